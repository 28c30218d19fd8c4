// A strict reader of JSON descriptions. It knows where it is, refuses keys that nobody asked for, checks units, and collects every
// problem of a file before it throws, so that a user mends a file once.
//
//     json::Document file = json::Document::load("hardware/gpu/h100-sxm.json");
//     json::Reader root = file.root();
//     Bytes memory = root.bytes("memory");            // {"value": 80, "unit": "GB", "source": "...", "kind": "datasheet"}
//     root.finish();                                  // complains about unknown keys
//     file.throw_if_problems();                       // one InputError with all sentences
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/units.h"

namespace treeline {

/// Bad input: the message holds one sentence a line, each naming file and key. The program exits with 2 on it.
class InputError : public std::runtime_error {
public:
    explicit InputError(std::vector<std::string> problems);
    [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }

private:
    std::vector<std::string> problems_;
};

/// Where a number comes from; reports repeat it.
struct Provenance {
    std::string path;    ///< "hardware/gpu/h100-sxm.json: memory_bandwidth"
    std::string text;    ///< "3.35 TB/s"
    std::string source;  ///< "vendor data sheet"
    std::string kind;    ///< datasheet | measured | published | assumed | derived
};

namespace json {

class Document;

/// One JSON object (or array element) being read. Getters return a harmless default after noting a problem, so reading goes on.
class Reader {
public:
    /// True when the key is there (and marks it as known).
    bool has(std::string_view key);

    /// Sub-object; a problem when it is missing or not an object.
    Reader object(std::string_view key);
    std::optional<Reader> optional_object(std::string_view key);
    /// Elements of an array of objects; a problem when it is missing, empty or holds something else.
    std::vector<Reader> objects(std::string_view key);
    /// Key and sub-object of each member of an object whose keys are names.
    std::vector<std::pair<std::string, Reader>> members(std::string_view key);
    /// Keys of this object, in order, without marking any as known.
    [[nodiscard]] std::vector<std::string> keys() const;

    std::string text(std::string_view key);
    std::string text_or(std::string_view key, std::string fallback);
    /// One of `choices`; anything else is a problem that names the nearest choice.
    std::string choice(std::string_view key, const std::vector<std::string>& choices);
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

    /// Measured quantities: {"value", "unit", "source", "kind"}. The unit must have the dimension that the getter is named after.
    Bytes bytes(std::string_view key);
    BytesPerSecond bytes_per_second(std::string_view key);
    FlopsPerSecond flops_per_second(std::string_view key);
    FlopsPerByte flops_per_byte(std::string_view key);
    Seconds seconds(std::string_view key);
    Watts watts(std::string_view key);
    JoulesPerByte joules_per_byte(std::string_view key);
    JoulesPerFlop joules_per_flop(std::string_view key);
    DollarsPerSecond dollars_per_second(std::string_view key);
    /// The same without unit: {"value", "source", "kind"}.
    double ratio(std::string_view key, double low, double high);

    /// Notes a problem at this place (key may be empty): "<file>: <path>: <sentence>".
    void problem(std::string_view key, std::string sentence);
    /// Notes every key that nobody asked for, with the nearest known one.
    void finish();

    /// "hardware/gpu/h100.json: peak.bf16"
    [[nodiscard]] std::string place(std::string_view key = {}) const;
    [[nodiscard]] const nlohmann::json& raw() const { return *node_; }

private:
    friend class Document;
    Reader(Document& document, const nlohmann::json& node, std::string path);

    const nlohmann::json* find(std::string_view key);
    const nlohmann::json* require(std::string_view key);
    double quantity(std::string_view key, std::string_view dimension);
    bool check_range(std::string_view key, double value, double low, double high);

    Document* document_;
    const nlohmann::json* node_;
    std::string path_;
    std::set<std::string, std::less<>> known_;
};

/// A parsed file and the problems found in it so far.
class Document {
public:
    /// Reads and parses a file. Throws InputError when it cannot be read, is larger than `size_limit`, is not JSON, or nests deeper
    /// than 64 levels. The `shown_as` name stands in messages (default: the path as given).
    static Document load(const std::filesystem::path& path, std::uintmax_t size_limit = 16u << 20);
    /// Parses text; `name` stands for the file in messages.
    static Document parse(std::string_view text, std::string name);

    Document(Document&&) noexcept;
    Document& operator=(Document&&) noexcept;
    ~Document();

    /// The top-level object; a problem when the top level is something else.
    Reader root();
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
    [[nodiscard]] const std::vector<Provenance>& provenance() const { return provenance_; }
    /// Adds sentences found by a validate() step; each is prefixed with the file's name.
    void add_problems(const std::vector<std::string>& sentences);
    void throw_if_problems() const;

private:
    friend class Reader;
    explicit Document(std::string name);

    std::string name_;
    std::unique_ptr<nlohmann::json> tree_;
    std::vector<std::string> problems_;
    std::vector<Provenance> provenance_;
};

/// The choice with the smallest edit distance to `word`, if it is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& choices);

}  // namespace json
}  // namespace treeline
