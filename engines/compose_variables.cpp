#include "engines/compose_variables.h"

#include <string>
#include <string_view>

#include "engines/shell_variables.h"

namespace treeline::engines {
namespace {

std::string as_compose_reads(std::string_view text, ShellVariables& none) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] != '$') {
            result += text[at++];
        } else if (text.substr(at).starts_with("$$")) {
            result += '$';
            at += 2;
        } else {
            for (const std::string& word : none.expand(text, at, true).words) {
                result += word;
            }
        }
    }
    return result;
}

void put_in_texts(nlohmann::ordered_json& tree, ShellVariables& none) {
    if (tree.is_string()) {
        tree = as_compose_reads(tree.get<std::string>(), none);
    } else if (tree.is_structured()) {
        for (nlohmann::ordered_json& inner : tree) {
            put_in_texts(inner, none);
        }
    }
}

}  // namespace

void put_compose_variables_in(nlohmann::ordered_json& tree) {
    if (tree.is_object() && tree.contains("services")) {
        ShellVariables none;
        put_in_texts(tree, none);
    }
}

}  // namespace treeline::engines
