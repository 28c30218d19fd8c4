// Flags of `treeline recommend` and `treeline report`, which replace or override a workload file.
#pragma once

#include <string>
#include <vector>

#include "requests/flag_values.h"

namespace treeline::requests {

/// A --drafter and what follows it on the command line. Without a name it refers to the file's only drafter.
struct DrafterFlags {
    std::string drafter, acceptance, accept_length, precision = {};
};

struct WorkloadFlags {
    FlagTexts texts;                   ///< of all flags but these:
    std::vector<std::string> devices;  ///< names, several separated by commas, or objects
    std::vector<DrafterFlags> drafters;
    std::vector<std::string> shapes;
};

/// The flags of `treeline recommend`, each with the key of the workload that it sets.
const std::vector<KeyFlag>& workload_flags();

/// `workload` with the keys that flags override; a list of flags replaces the whole list. A --device without braces, a --stack
/// and so on are combined into platforms; flags of the platform without a --device change every platform. A --drafter that
/// names one of the workload's (its name, model or kind) keeps that one's other keys. In an empty workload the keys without a
/// flag get the defaults of the help text. Throws InputError.
FlagJson with_flags(FlagJson workload, const WorkloadFlags& flags);

}  // namespace treeline::requests
