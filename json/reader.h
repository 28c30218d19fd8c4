// A strict reader of JSON descriptions. It knows where it is, rejects keys that nothing reads, checks units, and collects every
// problem of a file before it throws, so that a user fixes a file once.
//
//     json::Document file = json::Document::load("hardware/gpu/h100-sxm.json");
//     json::Reader root = file.root();
//     Bytes memory = root.bytes("memory");            // {"value": 80, "unit": "GB", "source": "...", "kind": "datasheet"}
//     root.finish();                                  // complains about unknown keys (of this object; sub-objects have their
//     own) file.throw_if_problems();                       // one InputError with all sentences
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/enum_names.h"
#include "sim/units.h"
#include "text/input_error.h"
#include "text/provenance.h"

namespace treeline::json {

class Document;

namespace detail {
struct DocumentState;
}

/// Whether a quantity may be zero ("no launch cost") or must be above it ("memory").
enum class Zero { refused, allowed };

/// One JSON object (or array element) being read. Getters return a harmless default after noting a problem, so reading goes on.
/// A null counts as an absent key. A Reader made for something missing stays silent: the missing thing itself is the problem.
/// Valid as long as its Document lives (moving the Document is fine).
class Reader {
public:
    /// True when the key is there and not null (and marks it as known).
    bool has(std::string_view key);

    /// Sub-object; a problem when it is missing or not an object.
    Reader object(std::string_view key);
    std::optional<Reader> optional_object(std::string_view key);
    /// Elements of an array of objects; a problem when it is missing, empty or holds something else.
    std::vector<Reader> objects(std::string_view key);
    /// The same where a text `t` may stand for the object {`meaning`: t} ("llama-3-8b" for {"model": "llama-3-8b"}).
    Reader object_or_text(std::string_view key, std::string_view meaning);
    /// A list of such elements; a single one may stand without brackets.
    std::vector<Reader> objects_or_texts(std::string_view key, std::string_view meaning);
    /// Key and sub-object of each member of the object under `key`, in the file's order; a problem when it is missing or empty.
    std::vector<std::pair<std::string, Reader>> members(std::string_view key);
    /// Keys of this object, in the file's order, without marking any as known.
    [[nodiscard]] std::vector<std::string> keys() const;

    /// A string that is not empty.
    std::string text(std::string_view key);
    std::string text_or(std::string_view key, std::string fallback);
    /// One of `choices`; anything else is a problem that names the nearest choice.
    std::string choice(std::string_view key, const std::vector<std::string>& choices);
    /// The same by the names of an enumeration (sim/enum_names.h).
    template <NamedEnum Enum>
    Enum choice(std::string_view key) {
        return value_named<Enum>(choice(key, names_of<Enum>())).value_or(Enum{});
    }
    template <NamedEnum Enum>
    Enum choice_or(std::string_view key, Enum fallback) {
        return has(key) ? choice<Enum>(key) : fallback;
    }
    /// An array of at least one string; the plural getters below want at least one element, too.
    std::vector<std::string> texts(std::string_view key);

    bool flag_or(std::string_view key, bool fallback);

    /// A finite number within [low, high]; or the fallback where the key is absent.
    double number(std::string_view key, double low, double high);
    double number_or(std::string_view key, double fallback, double low, double high);
    std::vector<double> numbers(std::string_view key, double low, double high);
    /// A whole number within [low, high].
    std::int64_t count(std::string_view key, std::int64_t low, std::int64_t high);
    std::int64_t count_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high);
    std::vector<std::int64_t> counts(std::string_view key, std::int64_t low, std::int64_t high);

    /// Measured quantities: {"value", "unit", "source", "kind"}, all four required. The unit must have the dimension that the
    /// getter is named after (json/unit_names.h lists them); values below zero or absurdly small or large are problems. Each
    /// one that is read adds its Provenance to the Document.
    /// `further` reads what else a quantity may state, beside those four.
    using Further = std::function<void(Reader& quantity)>;
    Bytes bytes(std::string_view key, Zero zero = Zero::refused, const Further& further = {});
    BytesPerSecond bytes_per_second(std::string_view key, Zero zero = Zero::refused);
    FlopsPerSecond flops_per_second(std::string_view key, Zero zero = Zero::refused);
    FlopsPerByte flops_per_byte(std::string_view key, Zero zero = Zero::refused);
    Seconds seconds(std::string_view key, Zero zero = Zero::refused, const Further& further = {});
    Watts watts(std::string_view key, Zero zero = Zero::refused);
    JoulesPerByte joules_per_byte(std::string_view key, Zero zero = Zero::refused);
    JoulesPerFlop joules_per_flop(std::string_view key, Zero zero = Zero::refused);
    DollarsPerSecond dollars_per_second(std::string_view key, Zero zero = Zero::refused);
    /// The same without unit: {"value", "source", "kind"}.
    double ratio(std::string_view key, double low, double high, const Further& further = {});

    /// Notes a problem at this place (key may be empty): "<file>: <path>: <sentence>".
    void problem(std::string_view key, std::string sentence);
    /// Reports every key that nothing has read, with the nearest known one.
    void finish();

    /// "hardware/gpu/h100.json: peak.bf16"
    [[nodiscard]] std::string place(std::string_view key = {}) const;
    /// The JSON itself. It keeps the file's order of keys.
    [[nodiscard]] const nlohmann::ordered_json& raw() const { return *node_; }

private:
    friend class Document;
    using Json = nlohmann::ordered_json;
    Reader(detail::DocumentState& document, const Json* node, std::string path);

    /// The value under `key`, or null; `require` also notes that it is missing. Both mark the key as known.
    const Json* find(std::string_view key);
    const Json* require(std::string_view key);
    /// As `require`, and an array with elements; otherwise null and a problem.
    const Json* require_array(std::string_view key, std::string_view of_what);
    Reader child(std::string_view key, const Json* node) const;
    /// `node` where it is an object, the object it stands for where it is a text; otherwise null and a problem.
    const Json* object_meant(std::string_view key, const Json& node, std::string_view meaning);
    std::optional<double> checked_number(const std::string& key, const Json& node, double low, double high);
    std::optional<std::int64_t> checked_count(const std::string& key, const Json& node, std::int64_t low, std::int64_t high);
    double quantity(std::string_view key, std::string_view dimension, Zero zero, const Further& further = {});
    void note_provenance(std::string text, std::string source, std::string kind);
    std::string source_text();
    std::string kind_text();
    std::optional<Reader> quantity_object(std::string_view key, std::string_view example);
    double unit_in_base_units(std::string_view dimension);

    detail::DocumentState* document_;
    const Json* node_;  ///< never null; an empty object where silent_
    bool silent_ = false;
    std::string path_;
    std::set<std::string, std::less<>> known_;
};

/// A parsed file and the problems found in it so far.
class Document {
public:
    /// Reads and parses a file. Throws InputError when it cannot be read, is larger than `size_limit` bytes, is not JSON in
    /// UTF-8, or nests deeper than 64 levels. Duplicate keys are problems (the first one counts). Messages show the path as
    /// given.
    static Document load(const std::filesystem::path& path, std::uintmax_t size_limit = 16u << 20);
    /// Parses text; `name` stands for the file in messages.
    static Document parse(std::string_view text, std::string name);
    /// A tree that was put together here, of flags for example.
    static Document of(nlohmann::ordered_json tree, std::string name);

    Document(Document&&) noexcept;
    Document& operator=(Document&&) noexcept;
    ~Document();

    /// The top-level object; a problem when the top level is something else.
    Reader root();
    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const std::vector<std::string>& problems() const;
    [[nodiscard]] const std::vector<text::Provenance>& provenance() const;
    /// Of every object on which finish() was called, the keys that its reader knows, by its place without list indices: "" is
    /// the top level, "drafters.acceptance" that of every drafter. Tests hold the documentation against it.
    [[nodiscard]] const std::map<std::string, std::set<std::string>>& known_keys() const;
    /// Adds sentences found by a validate() step; each is prefixed with the file's name.
    void add_problems(const std::vector<std::string>& sentences);
    void throw_if_problems() const;

private:
    explicit Document(std::string name);

    std::unique_ptr<detail::DocumentState> state_;
};

}  // namespace treeline::json
