#include "engines/speculative_numbers.h"

#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "json/wording.h"
#include "text/parse_number.h"

namespace treeline::engines {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FindingKind;

/// "a whole number above 0", "a number between 0 and 1".
std::string wanted(const SpeculativeNumber& number) {
    const char* what = number.whole ? "a whole number" : "a number";
    return std::isfinite(number.most)            ? fmt::format("{} between {:g} and {:g}", what, number.least, number.most)
           : number.whole && number.least == 1.0 ? fmt::format("{} above 0", what)
                                                 : fmt::format("{} of at least {:g}", what, number.least);
}

bool is_within(const SpeculativeNumber& number, double value) { return value >= number.least && value <= number.most; }

/// Words of templates that a program has yet to fill in: "{steps}", "<steps>".
bool is_placeholder(const std::string& value) {
    return value.size() > 2 && ((value.front() == '{' && value.back() == '}') || (value.front() == '<' && value.back() == '>'));
}

bool check_flag(const Flag& flag, const SpeculativeNumber& number, Findings& findings) {
    if (!flag.value) {
        findings.add(Kind::missing, flag.name, fmt::format("needs a value, {}", wanted(number)));
        return false;
    }
    const std::optional<long long> whole = text::parse_number<long long>(*flag.value);
    const std::optional<double> value = !number.whole ? text::parse_number(*flag.value)
                                        : whole       ? std::optional(static_cast<double>(*whole))
                                                      : std::nullopt;
    if (value && is_within(number, *value)) {
        return true;
    }
    if (is_placeholder(*flag.value)) {
        findings.leave_open(flag.name, *flag.value);
    }
    findings.add(Kind::value, flag.name, fmt::format("must be {}, not {}", wanted(number), *flag.value));
    return false;
}

}  // namespace

bool check_numbers(const Flags& flags, const std::vector<SpeculativeNumber>& numbers, Findings& findings) {
    bool sound = true;
    for (const SpeculativeNumber& number : numbers) {
        const Flag* flag = flags.find({number.name});
        sound = (flag == nullptr || check_flag(*flag, number, findings)) && sound;
    }
    return sound;
}

bool check_numbers(const Json& config, const std::vector<SpeculativeNumber>& numbers, Findings& findings) {
    bool sound = true;
    for (const SpeculativeNumber& number : numbers) {
        const std::string key(number.name);
        const auto at = config.find(key);
        if (at == config.end() || at->is_null()) {
            continue;
        }
        const bool right = number.whole ? at->is_number_integer() : at->is_number();
        if (!right || !is_within(number, at->get<double>())) {
            findings.add(Kind::value, key, fmt::format("must be {}, not {}", wanted(number), json::shown(*at)));
            sound = false;
        }
    }
    return sound;
}

}  // namespace treeline::engines
