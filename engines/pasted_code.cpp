#include "engines/pasted_code.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/started_engine.h"

namespace treeline::engines {
namespace {

constexpr std::string_view fence = "```";

bool begins_with_fence(std::string_view line) {
    line.remove_prefix(line.starts_with("> ") ? 2 : 0);  // a quotation
    return line.starts_with(fence);                      // deeper ones stand in texts of YAML
}

/// The blocks between fences; the last one may stay open.
std::vector<std::string> blocks_of(const std::string& text) {
    std::vector<std::string> blocks;
    bool open = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (begins_with_fence(line)) {
            open = !open;
            if (open) {
                blocks.emplace_back();
            }
        } else if (open) {
            blocks.back() += line + "\n";
        }
    }
    return blocks;
}

bool names_speculation(const std::string& block) {
    return block.find("speculative") != std::string::npos || block.find("--spec") != std::string::npos ||
           block.find("--draft") != std::string::npos || block.find(" -md ") != std::string::npos;
}

/// Whether a word of a block starts an engine. Blanks end words, whatever is quoted.
bool names_an_engine(const std::string& block) {
    std::istringstream words(block.substr(0, 1u << 16));
    CommandLine command;
    for (std::string word; words >> word;) {
        command.words.push_back(word);
    }
    return has_flags(command) && engine_of_program(command).has_value();
}

template <class Predicate>
std::string blocks_joined(const std::vector<std::string>& blocks, Predicate predicate) {
    std::string text;
    for (const std::string& block : blocks) {
        text += predicate(block) ? block : "";
    }
    return text;
}

}  // namespace

std::string fenced_code_of(const std::string& text) {
    if (text.find(fence) == std::string::npos || text.starts_with("#!")) {
        return text;
    }
    const std::vector<std::string> blocks = blocks_of(text);
    const std::string drafting = blocks_joined(blocks, names_speculation),
                      started = drafting.empty() ? blocks_joined(blocks, names_an_engine) : drafting;
    return started.empty() ? text : started;
}

std::string code_spans_of(const std::string& text) {
    std::string spans;
    for (std::size_t begin = text.find('`'); begin != std::string::npos; begin = text.find('`', begin)) {
        const std::size_t end = text.find('`', begin + 1);
        if (end == std::string::npos) {
            break;
        }
        const std::string span = text.substr(begin + 1, end - begin - 1);
        spans += span.find('-') != std::string::npos && names_speculation(span) ? span + "\n" : "";
        begin = end + 1;
    }
    return spans;
}

}  // namespace treeline::engines
