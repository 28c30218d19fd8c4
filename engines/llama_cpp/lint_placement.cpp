// llama.cpp's flags that keep weights in the host's memory (common/arg.cpp): layers, experts, tensors by pattern.
#include <algorithm>

#include <fmt/format.h>

#include "engines/lint_input.h"
#include "engines/llama_cpp/lint_placement.h"

namespace treeline::engines::llama_cpp {
namespace {

using Kind = FindingKind;

const std::vector<std::string_view> layer_flags = {"-ngl", "--gpu-layers", "--n-gpu-layers"};
const std::vector<std::string_view> expert_flags = {"-ncmoe", "--n-cpu-moe"};
const std::vector<std::string_view> all_expert_flags = {"-cmoe", "--cpu-moe"};
const std::vector<std::string_view> tensor_flags = {"-ot", "--override-tensor"};

void check_count(const Flags& flags, const std::vector<std::string_view>& names, long long least, const char* also,
                 Findings& findings) {
    const Flag* flag = flags.find(names);
    if (flag == nullptr || !flag->value) {
        return;
    }
    const bool word = *also != '\0' && (flag->value == "auto" || flag->value == "all");
    const std::optional<long long> number = flags.number(names);
    if (!word && (!number || *number < least)) {
        findings.add(Kind::value, flag->name, fmt::format("must be a whole number from {} on{}", least, also));
    }
}

/// "pattern=buffer", several of them with commas between.
void check_patterns(const Flag& flag, Findings& findings) {
    std::string list = flag.value.value_or("") + ",";
    for (std::size_t comma = list.find(','); comma != std::string::npos; comma = list.find(',')) {
        const std::string entry = list.substr(0, comma);
        list.erase(0, comma + 1);
        const std::size_t equals = entry.rfind('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size()) {
            findings.add(
                Kind::value, flag.name,
                fmt::format("is \"{}\": write pattern=buffer, as in \"\\.ffn_(up|down|gate)_exps\\.=CPU\"; --n-cpu-moe N "
                            "does that for the first N layers",
                            entry));
            return;
        }
    }
}

}  // namespace

void check_placement(const Flags& flags, Findings& findings) {
    check_count(flags, layer_flags, -1, ", or auto, or all", findings);
    check_count(flags, expert_flags, 0, "", findings);
    const Flag* some = flags.find(expert_flags);
    if (const Flag* all = flags.find(all_expert_flags); all != nullptr && some != nullptr) {
        findings.add(Kind::contradiction, some->name,
                     fmt::format("limits nothing: {} keeps the experts of all layers on the host", all->name));
    }
    const std::optional<long long> layers = flags.number(layer_flags);
    const Flag* experts = some != nullptr ? some : flags.find(all_expert_flags);
    if (layers && *layers == 0 && experts != nullptr) {
        findings.add(Kind::ignored, experts->name, "changes nothing: no layer is on a GPU (-ngl 0)");
    }
    for (const Flag& flag : flags.all()) {
        if (std::find(tensor_flags.begin(), tensor_flags.end(), flag.name) != tensor_flags.end()) {
            check_patterns(flag, findings);
        }
    }
}

}  // namespace treeline::engines::llama_cpp
