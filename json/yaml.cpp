#include "json/yaml.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <yaml-cpp/yaml.h>

#include "json/parse.h"
#include "text/parse_number.h"

namespace treeline::json {
namespace {

using Json = nlohmann::ordered_json;

struct TooMuch {
    std::string why;
};

Json scalar_of(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (node.Tag() == "!") {  // quoted
        return text;
    }
    if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
        return nullptr;
    }
    if (text == "true" || text == "True" || text == "TRUE" || text == "false" || text == "False" || text == "FALSE") {
        return std::tolower(static_cast<unsigned char>(text.front())) == 't';
    }
    if (const auto whole_number = text::parse_number<long long>(text)) {
        return *whole_number;
    }
    if (const auto number = text::parse_number(text)) {
        return *number;
    }
    return text;
}

/// Copies the tree value by value, so that what aliases share is counted as often as it is written out.
class Unfolding {
public:
    explicit Unfolding(std::vector<std::string>& repeated) : repeated_(repeated) {}

    Json tree_of(const YAML::Node& node, std::size_t depth = 0) {
        if (depth > deepest_nesting) {
            throw TooMuch{too_deep_text()};
        }
        if (++values_ > most_yaml_values) {
            throw TooMuch{"unfolds to more than " + std::to_string(most_yaml_values) + " values"};
        }
        if (node.IsMap()) {
            return object_of(node, depth);
        }
        if (!node.IsSequence()) {
            return node.IsScalar() ? scalar_of(node) : Json();
        }
        Json array = Json::array();
        for (const auto& element : node) {
            array.push_back(tree_of(element, depth + 1));
        }
        return array;
    }

private:
    Json object_of(const YAML::Node& node, std::size_t depth) {
        Json object = Json::object();
        for (const auto& member : node) {
            const std::string key = member.first.IsScalar() ? member.first.Scalar() : "?";
            if (object.contains(key)) {
                repeated_.push_back(key);
            }
            object[key] = tree_of(member.second, depth + 1);
        }
        return object;
    }

    std::vector<std::string>& repeated_;
    std::size_t values_ = 0;
};

/// What `read` makes of the text, or why there is nothing.
template <class Read>
ParsedYaml parsed_by(const Read& read) {
    ParsedYaml parsed;
    try {
        // YAML::Load itself gives up at 500 levels (yaml-cpp/depthguard.h) and keeps what aliases name only once.
        Unfolding unfolding(parsed.repeated_keys);
        parsed.tree = read(unfolding);
    } catch (const TooMuch& too_much) {
        parsed.failure = too_much.why;
    } catch (const YAML::Exception& error) {
        parsed.failure = "is not YAML: line " + std::to_string(error.mark.line + 1) + ", column " +
                         std::to_string(error.mark.column + 1) + ": " + error.msg;
    }
    if (!parsed.failure.empty()) {
        parsed.tree = nullptr;
    }
    return parsed;
}

}  // namespace

ParsedYaml parse_yaml(const std::string& text) {
    return parsed_by([&](Unfolding& unfolding) { return unfolding.tree_of(YAML::Load(text)); });
}

ParsedYaml parse_yaml_documents(const std::string& text) {
    return parsed_by([&](Unfolding& unfolding) {
        nlohmann::ordered_json documents = nlohmann::ordered_json::array();
        for (const YAML::Node& document : YAML::LoadAll(text)) {
            if (!document.IsNull()) {
                documents.push_back(unfolding.tree_of(document));
            }
        }
        return documents.empty() ? nlohmann::ordered_json() : documents.size() == 1 ? documents.front() : documents;
    });
}

}  // namespace treeline::json
