#include "json/yaml.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "json/parse.h"
#include "text/parse_number.h"
#include "text/plain_text.h"

namespace treeline::json {
namespace {

using Json = nlohmann::ordered_json;

struct TooMuch {
    std::string why;
};

Json scalar_of(const YAML::Node& node) {
    const std::string text = text::as_utf8(node.Scalar());
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
        count_bytes(node.IsScalar() ? node.Scalar().size() : 0);
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
    void count_bytes(std::size_t more) {
        if ((bytes_ += more) > most_yaml_bytes) {
            throw TooMuch{"unfolds to texts of more than " + std::to_string(most_yaml_bytes >> 20) + " MiB"};
        }
    }

    Json object_of(const YAML::Node& node, std::size_t depth) {
        Json object = Json::object();
        auto& members = object.get_ref<Json::object_t&>();
        std::unordered_map<std::string, std::size_t> places;  // the object itself compares a key with all before it
        for (const auto& member : node) {
            const std::string key = member.first.IsScalar() ? text::as_utf8(member.first.Scalar()) : "?";
            count_bytes(key.size());
            Json value = tree_of(member.second, depth + 1);
            const auto [place, is_new] = places.try_emplace(key, members.size());
            if (is_new) {
                members.emplace_back(key, std::move(value));  // of std::vector
            } else {
                repeated_.push_back(key);
                (members.begin() + static_cast<std::ptrdiff_t>(place->second))->second = std::move(value);
            }
        }
        return object;
    }

    std::vector<std::string>& repeated_;
    std::size_t values_ = 0, bytes_ = 0;
};

/// Sees where documents begin. yaml-cpp does not refuse a token that cannot begin one (a comma): it reports an empty document
/// and stays where it is, so that YAML::LoadAll fills the memory.
class DocumentBegins : public YAML::EventHandler {
public:
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (mark.pos == last_) {
            throw YAML::ParserException(mark, "a document cannot begin here");
        }
        last_ = mark.pos;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
    void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
    void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  const std::string& /*value*/) override {}
    void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                         YAML::EmitterStyle::value /*style*/) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                    YAML::EmitterStyle::value /*style*/) override {}
    void OnMapEnd() override {}

private:
    int last_ = -1;
};

/// All documents of a text; throws YAML::Exception.
std::vector<YAML::Node> documents_of(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    DocumentBegins begins;
    while (parser.HandleNextDocument(begins)) {}
    return YAML::LoadAll(text);
}

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
        for (const YAML::Node& document : documents_of(text)) {
            if (!document.IsNull()) {
                documents.push_back(unfolding.tree_of(document));
            }
        }
        return documents.empty() ? nlohmann::ordered_json() : documents.size() == 1 ? documents.front() : documents;
    });
}

}  // namespace treeline::json
