#include "json/document_state.h"
#include "json/parse.h"
#include "json/reader.h"
#include "json/wording.h"
#include "text/input_file.h"

namespace treeline::json {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& sentence) {
    throw text::InputError({name + ": " + sentence});
}

}  // namespace

Document::Document(std::string name) : state_(std::make_unique<detail::DocumentState>(std::move(name))) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Document Document::load(const std::filesystem::path& path, std::uintmax_t size_limit) {
    return parse(text::read_file(path, size_limit), path.string());
}

Document Document::parse(std::string_view text, std::string name) {
    Document document(std::move(name));
    Parsed parsed = parse_strictly(text);
    if (!parsed.failure.empty()) {
        fail(document.name(), parsed.failure);
    }
    document.state_->tree = std::move(parsed.tree);
    for (const std::string& key : parsed.duplicate_keys) {
        document.state_->add_problem(document.name() + ": " + key + ": this key appears twice");
    }
    return document;
}

Document Document::of(nlohmann::ordered_json tree, std::string name) {
    Document document(std::move(name));
    document.state_->tree = std::move(tree);
    return document;
}

Reader Document::root() {
    if (state_->tree.is_object()) {
        return {*state_, &state_->tree, ""};
    }
    state_->add_problem(name() + ": must hold an object in braces, not " + shown(state_->tree));
    return {*state_, nullptr, ""};
}

const std::string& Document::name() const { return state_->name; }
const std::vector<std::string>& Document::problems() const { return state_->problems; }
const std::vector<text::Provenance>& Document::provenance() const { return state_->provenance; }

const std::map<std::string, std::set<std::string>>& Document::known_keys() const { return state_->known_keys; }

void Document::add_problems(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
        state_->add_problem(name() + ": " + sentence);
    }
}

void Document::throw_if_problems() const {
    if (!state_->problems.empty()) {
        throw text::InputError(state_->problems);
    }
}

}  // namespace treeline::json
