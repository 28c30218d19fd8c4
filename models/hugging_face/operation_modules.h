// How the classes of checkpoints call the modules behind an operation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/model.h"

namespace treeline::models::hugging_face {

/// An operation of a block, and how the classes of checkpoints call the module that it stands for. Where one operation stands
/// for several modules (Q, K and V), the largest speaks for it.
struct OperationModules {
    std::string_view operation;
    std::vector<std::string> modules;
};
using Modules = std::vector<OperationModules>;

/// The operations of a block that hold matrices.
const Modules& modules_of(const sim::BlockKind& block);

}  // namespace treeline::models::hugging_face
