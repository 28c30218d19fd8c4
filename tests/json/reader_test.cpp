// Does the strict reader accept exactly what a description may hold, and say every problem of a file at once, in place?
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "json/reader.h"
#include "text/wording.h"

namespace reader_test {

using namespace treeline;
using namespace treeline::json;
using json::Document;
using json::Reader;

namespace {

std::string failure_of(const std::string& text) {
    try {
        Document::parse(text, "file.json");
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

/// The problems that reading one quantity with `get` notes.
template <class Get>
std::vector<std::string> problems_with(const std::string& member, Get get) {
    Document document = Document::parse("{" + member + "}", "file.json");
    Reader root = document.root();
    get(root);
    root.finish();
    return document.problems();
}

std::vector<std::string> size_problems(const std::string& member) {
    return problems_with(member, [](Reader& root) { root.bytes("memory"); });
}

std::string quantity(const std::string& value, const std::string& unit) {
    return R"("memory": {"value": )" + value + R"(, "unit": ")" + unit + R"(", "source": "test", "kind": "assumed"})";
}

/// A file that is gone when the test ends.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& content)
        : path(std::filesystem::temp_directory_path() / ("treeline_reader_test_" + std::to_string(::getpid()) + ".json")) {
        std::ofstream(path, std::ios::binary) << content;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::filesystem::remove(path); }

    const std::filesystem::path path;
};

}  // namespace

TEST_CASE("quantities are converted to base units, decimal and binary prefixes apart", "[json]") {
    Document document = Document::parse(R"({
        "gb": {"value": 80, "unit": "GB", "source": "s", "kind": "datasheet"},
        "gib": {"value": 80, "unit": "GiB", "source": "s", "kind": "datasheet"},
        "rate": {"value": 3.35, "unit": "TB/s", "source": "s", "kind": "datasheet"},
        "latency": {"value": 8, "unit": "µs", "source": "s", "kind": "assumed"},
        "energy": {"value": 5, "unit": "pJ/bit", "source": "s", "kind": "assumed"},
        "price": {"value": 3.6, "unit": "USD/h", "source": "s", "kind": "assumed"}})",
                                        "file.json");
    Reader root = document.root();
    CHECK(root.bytes("gb").value() == 80e9);
    CHECK(root.bytes("gib").value() == 85899345920.0);  // 80 · 2^30
    CHECK(root.bytes_per_second("rate").value() == Approx(3.35e12).epsilon(1e-15));
    CHECK(root.seconds("latency").value() == Approx(8e-6).epsilon(1e-15));
    CHECK(root.joules_per_byte("energy").value() == Approx(4e-11).epsilon(1e-15));   // 5 pJ/bit · 8 bits
    CHECK(root.dollars_per_second("price").value() == Approx(1e-3).epsilon(1e-15));  // 3.6 USD / 3600 s
    root.finish();
    CHECK_NOTHROW(document.throw_if_problems());

    REQUIRE(document.provenance().size() == 6);
    CHECK(document.provenance()[2].path == "file.json: rate");
    CHECK(document.provenance()[2].text == "3.35 TB/s");
    CHECK(document.provenance()[2].source == "s");
    CHECK(document.provenance()[2].kind == "datasheet");
}

TEST_CASE("a wrong unit names the accepted ones", "[json]") {
    const auto other_dimension = size_problems(quantity("80", "GB/s"));
    REQUIRE(other_dimension.size() == 1);
    CHECK(other_dimension[0] ==
          "file.json: memory.unit: \"GB/s\" is a unit of bandwidth, but this is a size in B, kB, KiB, MB, MiB, GB, GiB, TB or "
          "TiB");

    const auto unknown = size_problems(quantity("80", "gb"));
    REQUIRE(unknown.size() == 1);
    CHECK_THAT(unknown[0],
               Catch::Contains("memory.unit: \"gb\" is not a known unit") && Catch::EndsWith("did you mean \"GB\"?"));
}

TEST_CASE("values that cannot be are refused", "[json]") {
    CHECK_THAT(size_problems(quantity("-3", "GB")).at(0), Catch::Contains("memory.value: is -3, but must be above zero"));
    CHECK_THAT(size_problems(quantity("0", "GB")).at(0), Catch::Contains("must be above zero"));
    CHECK_THAT(size_problems(quantity("\"80\"", "GB")).at(0), Catch::Contains("memory.value: must be a number, not \"80\""));
    // 80e9 TB: the value was given in bytes.
    CHECK_THAT(size_problems(quantity("80e9", "TB")).at(0),
               Catch::Contains("which is impossible: expected between 1 B and 10000 TB"));
    CHECK_THAT(size_problems("\"memory\": 80").at(0), Catch::Contains("must be an object like") && Catch::Contains("not 80"));

    const auto zero_allowed = problems_with(
        quantity("0", "us"), [](Reader& root) { CHECK(root.seconds("memory", json::Zero::allowed).value() == 0.0); });
    CHECK(zero_allowed.empty());
}

TEST_CASE("a quantity needs value, unit, source and kind, and nothing else", "[json]") {
    const auto bare = size_problems(R"("memory": {"note": 1})");
    REQUIRE(bare.size() == 5);
    CHECK(bare[0] == "file.json: memory.unit: is missing");
    CHECK(bare[1] == "file.json: memory.value: is missing");
    CHECK(bare[2] == "file.json: memory.source: is missing");
    CHECK(bare[3] == "file.json: memory.kind: is missing");
    CHECK_THAT(bare[4], Catch::StartsWith("file.json: memory.note: unknown key; known here: "));

    const auto kind = size_problems(R"("memory": {"value": 1, "unit": "GB", "source": "s", "kind": "data sheet"})");
    REQUIRE(kind.size() == 1);
    CHECK_THAT(kind[0],
               Catch::Contains("must be datasheet, measured, published, fitted, assumed or derived, not \"data sheet\"") &&
                   Catch::EndsWith("did you mean \"datasheet\"?"));
}

TEST_CASE("unknown and duplicate keys are named with their path", "[json]") {
    Document document =
        Document::parse(R"({"peak": {"bf16": 1, "bf16": 2, "layers": [{"a": 1, "a": [{"b": 1, "b": {"c": []}}]}]},
                                            "memmory": 3})",
                        "file.json");
    Reader root = document.root();
    root.has("memory");
    Reader peak = root.object("peak");
    CHECK(peak.number("bf16", 0, 10) == 1.0);  // the first one counts
    CHECK(peak.objects("layers").at(0).count("a", 0, 10) == 1);
    root.finish();
    const auto& problems = document.problems();
    REQUIRE(problems.size() == 4);
    CHECK(problems[0] == "file.json: peak.bf16: this key appears twice");
    CHECK_THAT(problems[1], Catch::Contains("peak.layers[0].a: this key appears twice"));
    CHECK_THAT(problems[2], Catch::Contains("this key appears twice"));
    CHECK(problems[3] == "file.json: memmory: unknown key; did you mean \"memory\"?");
}

TEST_CASE("all problems of a file come in one error", "[json]") {
    Document document =
        Document::parse(R"({"layers": 2.5, "name": "", "format": "bf17", "sizes": [], "on": 1, "extra": 0})", "m.json");
    Reader root = document.root();
    root.count("layers", 1, 100);
    root.text("name");
    root.choice("format", {"bf16", "fp16"});
    root.numbers("sizes", 0, 1);
    root.flag_or("on", false);
    root.object("missing").object("inside").number("deep", 0, 1);  // one problem, not three
    root.finish();
    document.add_problems({"layers must divide by heads"});
    try {
        document.throw_if_problems();
        FAIL("seven problems were not reported");
    } catch (const text::InputError& error) {
        const std::vector<std::string> expected = {
            "m.json: layers: must be a whole number, not 2.5",
            "m.json: name: must be a non-empty text in quotes, not \"\"",
            "m.json: format: must be bf16 or fp16, not \"bf17\"; did you mean \"bf16\"?",
            "m.json: sizes: is empty, but at least one element is needed",
            "m.json: on: must be true or false, not 1",
            "m.json: missing: is missing",
            "m.json: extra: unknown key; known here: format, layers, missing, name, on and sizes",
            "m.json: layers must divide by heads"};
        CHECK(error.problems() == expected);
    }
}

TEST_CASE("whole numbers have limits and may be written as 1e6", "[json]") {
    Document document =
        Document::parse(R"({"a": 1e6, "b": 18446744073709551615, "c": -9223372036854775808, "d": [1, 2.0, 3]})", "f");
    Reader root = document.root();
    CHECK(root.count("a", 1, 10'000'000) == 1'000'000);
    CHECK(document.problems().empty());
    root.count("b", 0, 10);
    root.count("c", 0, 10);
    CHECK(document.problems().size() == 2);
    CHECK(root.counts("d", 1, 3) == std::vector<std::int64_t>{1, 2, 3});
    CHECK(document.problems().size() == 2);
}

TEST_CASE("null counts as absent", "[json]") {
    Document document = Document::parse(R"({"window": null})", "f");
    Reader root = document.root();
    CHECK_FALSE(root.has("window"));
    CHECK(root.number_or("window", 7.0, 0.0, 10.0) == 7.0);
    root.finish();
    CHECK(document.problems().empty());
}

TEST_CASE("members and keys keep the file's order", "[json]") {
    Document document = Document::parse(R"({"axes": {"k": {}, "batch": {}, "a": {}}})", "f");
    Reader root = document.root();
    std::vector<std::string> names;
    for (auto& [name, reader] : root.members("axes")) {
        names.push_back(name);
        CHECK(reader.place() == "f: axes." + name);
    }
    CHECK(names == std::vector<std::string>{"k", "batch", "a"});
}

TEST_CASE("text that is not JSON is refused with its place", "[json]") {
    CHECK(failure_of("{\n  \"a\": 1,\n  \"b\": [1, 2") ==
          "file.json: ends in the middle of the JSON (line 3, column 12): is it truncated?");
    CHECK_THAT(failure_of("{\"a\": \"x"), Catch::Contains("is it truncated?"));
    CHECK_THAT(failure_of("{\"a\" 1}"), Catch::StartsWith("file.json: is not JSON at line 1, column 6: "));
    CHECK_THAT(failure_of("{\"a\": 1} x"), Catch::StartsWith("file.json: is not JSON at line 1"));
    CHECK_THAT(failure_of("{\"a\": 1, }"), Catch::EndsWith("a comma before a closing bracket; remove it"));
    CHECK_THAT(failure_of("[1,]"), Catch::EndsWith("a comma before a closing bracket; remove it"));
    CHECK_THAT(failure_of("{'a': 1}"), Catch::EndsWith("JSON takes double quotes, not single ones"));
    CHECK_THAT(failure_of("{a: 1}"), Catch::Contains("a key without double quotes"));
    CHECK_THAT(failure_of("{\"a\": NaN}"), Catch::Contains("NaN and Infinity are not JSON numbers"));
    CHECK_THAT(failure_of("{\"a\": 1e999}"), Catch::Contains("line 1, column") && Catch::Contains("1e999"));
    CHECK_THAT(failure_of("{\"a\": \"\xff\"}"), Catch::Contains("is not UTF-8 text (line 1"));
    CHECK(failure_of(" \n ") == "file.json: is empty");
    CHECK(failure_of("[1]").empty());  // JSON, but not an object:
    Document list = Document::parse("[1]", "file.json");
    list.root().bytes("memory");
    CHECK(list.problems() == std::vector<std::string>{"file.json: must hold an object in braces, not an array"});
}

TEST_CASE("a million brackets end in a sentence, not in a crash", "[json]") {
    for (const char bracket : {'[', '{'}) {
        std::string text;
        for (int i = 0; i < 1'000'000; ++i) {
            text += bracket == '{' ? "{\"a\":" : "[";
        }
        CHECK(failure_of(text) == "file.json: nests deeper than 64 levels");
    }
    CHECK(failure_of(std::string(64, '[') + std::string(64, ']')).empty());
}

TEST_CASE("every cut of a description is refused or read, and never crashes", "[json]") {
    const std::string text = "{" + quantity("80", "GB") + R"(, "notes": ["\u00e9", "µ"], "flag": true})";
    for (std::size_t length = 0; length < text.size(); ++length) {
        INFO(text.substr(0, length));
        CHECK_FALSE(failure_of(text.substr(0, length)).empty());
    }
    CHECK(failure_of(text).empty());
}

TEST_CASE("a file of nothing but mistakes gives a bounded list, quickly", "[json]") {
    std::string text = "{";
    for (int i = 0; i < 200'000; ++i) {
        text += "\"key" + std::to_string(i) + "\": 1,";
    }
    Document document = Document::parse(text + "\"last\": 1}", "f");
    document.root().finish();
    CHECK(document.problems().size() == 101);
}

TEST_CASE("control characters of a file do not reach the terminal", "[json]") {
    Document document = Document::parse("{\"a\\u001b[31m\\n\": 1}", "f");
    document.root().finish();
    REQUIRE(document.problems().size() == 1);
    CHECK(document.problems()[0].find('\x1b') == std::string::npos);
    CHECK(document.problems()[0].find('\n') == std::string::npos);
}

TEST_CASE("files that cannot be read are refused with the reason", "[json]") {
    const auto reason = [](const std::filesystem::path& path, std::uintmax_t limit) -> std::string {
        try {
            Document::load(path, limit);
        } catch (const text::InputError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(reason("/nonexistent/x.json", 100),
               Catch::Equals("/nonexistent/x.json: cannot be opened (No such file or directory)"));
    CHECK_THAT(reason(std::filesystem::temp_directory_path(), 100), Catch::Contains("is a directory, but a file is needed"));
    CHECK_THAT(reason("/dev/zero", 1000), Catch::Contains("is larger than 1000 bytes"));  // endless

    const TemporaryFile file("{\"a\": 1}");
    CHECK(reason(file.path, 8).empty());  // {"a": 1} is 8 bytes
    CHECK_THAT(reason(file.path, 7), Catch::Contains("is larger than 7 bytes"));
    std::filesystem::permissions(file.path, std::filesystem::perms::none);
    if (::geteuid() != 0) {  // root reads everything
        CHECK_THAT(reason(file.path, 100), Catch::Contains("cannot be opened (Permission denied)"));
    }
}

TEST_CASE("the nearest name is what was meant, or nothing", "[json]") {
    const std::vector<std::string> names = {"h100-sxm", "h200", "b200", "a100-sxm-80", "rtx-4090"};
    CHECK(text::nearest("h100", names) == "h100-sxm");
    CHECK(text::nearest("H200", names) == "h200");
    CHECK(text::nearest("rtx4090", names) == "rtx-4090");
    CHECK(text::nearest("200b", names) == std::nullopt);
    CHECK(text::nearest("tpu", names) == std::nullopt);
    CHECK(text::nearest(std::string(1'000'000, 'h'), names) == std::nullopt);
}

}  // namespace reader_test
