// Names of a checkpoint's modules as quantisers write them, and what holds for the modules that they match.
#pragma once

#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sim/precision.h"

namespace treeline::models::hugging_face {

/// How the weights of a module are stored, and in which format its products run.
struct StoredFormat {
    sim::Storage storage;
    sim::NumberFormat math = sim::NumberFormat::bf16;

    friend bool operator==(const StoredFormat&, const StoredFormat&) = default;
};

/// Formats by pattern. A pattern is a module's name ("model.layers.3.self_attn.q_proj"), some components of it ("self_attn",
/// "mlp.gate": these modules and all that is in them), a glob ("model.layers.3.mlp*"), or a regular expression after "re:".
/// Patterns of other towers and of multi-token-prediction modules never match.
class ModulePatterns {
public:
    /// False where a regular expression cannot be understood.
    bool add(const std::string& pattern, const StoredFormat& format);

    /// The format that the longest matching name, or else the first matching pattern, stands for. `module` is a name within the
    /// decoder: "layers.3.self_attn.q_proj" or "lm_head". Null where nothing matches.
    [[nodiscard]] const StoredFormat* find(const std::string& module) const;

    [[nodiscard]] bool empty() const { return names_.empty() && globs_.empty() && expressions_.empty(); }

private:
    struct Glob {
        std::string pattern;
        StoredFormat format;
    };
    struct Expression {
        std::regex pattern;
        StoredFormat format;
    };

    std::unordered_map<std::string, StoredFormat> names_;
    std::map<std::string, std::vector<Glob>> globs_;  ///< by the layer that they name ("layers.3."); "" for any
    std::vector<Expression> expressions_;
};

}  // namespace treeline::models::hugging_face
