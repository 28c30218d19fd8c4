#include <cerrno>
#include <cstdio>
#include <system_error>

#include "json/document_state.h"
#include "json/parse.h"
#include "json/reader.h"
#include "json/wording.h"

namespace treeline {

namespace json {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

[[noreturn]] void fail(const std::string& name, const std::string& sentence) { throw InputError({name + ": " + sentence}); }

[[noreturn]] void fail_with_errno(const std::string& name, const std::string& sentence) {
    const int error = errno;
    fail(name, sentence + " (" + std::generic_category().message(error) + ")");
}

/// The file's text. Reads at most one byte more than the limit, so that an endless file ends, too.
std::string text_of(const std::filesystem::path& path, std::uintmax_t size_limit) {
    const std::string name = path.string();
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        fail(name, "is a directory, but a JSON file is needed");
    }
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        fail_with_errno(name, "cannot be opened");
    }
    std::string text;
    std::vector<char> chunk(1u << 16);
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get())) {
        text.append(chunk.data(), got);
        if (text.size() > size_limit) {
            fail(name, "is larger than " + std::to_string(size_limit) + " bytes, the limit for a description");
        }
    }
    if (std::ferror(file.get()) != 0) {
        fail_with_errno(name, "cannot be read");
    }
    return text;
}

}  // namespace

Document::Document(std::string name) : state_(std::make_unique<detail::DocumentState>(std::move(name))) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Document Document::load(const std::filesystem::path& path, std::uintmax_t size_limit) {
    return parse(text_of(path, size_limit), path.string());
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
const std::vector<Provenance>& Document::provenance() const { return state_->provenance; }

const std::map<std::string, std::set<std::string>>& Document::known_keys() const { return state_->known_keys; }

void Document::add_problems(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
        state_->add_problem(name() + ": " + sentence);
    }
}

void Document::throw_if_problems() const {
    if (!state_->problems.empty()) {
        throw InputError(state_->problems);
    }
}

}  // namespace json
}  // namespace treeline
