// Is every mistake in a model description one clear sentence that names file and key, and are all of a file's mistakes told at
// once?
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "models/catalogue.h"
#include "source_folder.h"

namespace model_bad_input_test {

using namespace treeline;
using namespace treeline::models;

namespace {

const std::filesystem::path catalogue = treeline::testing::source_folder() / "models";

/// A file of this text that is gone when the test ends.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text, const std::string& name = "model.json")
        : folder_(std::filesystem::temp_directory_path() / ("treeline-models-" + std::to_string(++counter_) + "-" +
                                                            std::to_string(reinterpret_cast<std::uintptr_t>(this)))) {
        std::filesystem::create_directories(folder_);
        path_ = folder_ / name;
        std::ofstream(path_) << text;
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    static inline int counter_ = 0;
    std::filesystem::path folder_;
    std::filesystem::path path_;
};

const std::string good = R"({
  "name": "m", "source": "a test", "kind": "assumed", "vocabulary": "v", "vocabulary_size": 1000, "width": 64,
  "norm": "rms",
  "layers": {"decoder": {"blocks": [{"attention": {"query_heads": 4, "kv_heads": 2, "head_dim": 16}}, {"mlp": {"hidden": 128}}]}},
  "order": [{"repeat": 2, "layers": ["decoder"]}]
})";

/// The good description with one piece replaced.
std::string with(const std::string& piece, const std::string& replacement, std::string text = good) {
    const std::size_t at = text.find(piece);
    REQUIRE(at != std::string::npos);
    return text.replace(at, piece.size(), replacement);
}

std::vector<std::string> problems_in(const std::string& text) {
    const TemporaryFile file(text);
    try {
        load_model(catalogue, file.path());
    } catch (const text::InputError& error) {
        for (const std::string& problem : error.problems()) {
            CHECK(problem.find("model.json") != std::string::npos);
        }
        return error.problems();
    }
    return {};
}

void check_only_problem(const std::string& text, const std::string& part) {
    const std::vector<std::string> problems = problems_in(text);
    INFO(part);
    REQUIRE(problems.size() == 1);
    INFO(problems.front());
    CHECK(problems.front().find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("the description that the others are made from loads") {
    const TemporaryFile file(good);
    const sim::Model model = load_model(catalogue, file.path()).value;
    CHECK(model.order.size() == 2);
    CHECK(model.kinds.front().blocks.size() == 2);
    CHECK(model.precision.weights.format == sim::NumberFormat::bf16);
    CHECK(model.precision.state.format == sim::NumberFormat::fp32);
}

TEST_CASE("unknown keys name the nearest known one") {
    check_only_problem(with("\"norm\"", "\"widht\": 5, \"norm\""), "did you mean \"width\"");
    const std::vector<std::string> problems = problems_in(with("\"query_heads\"", "\"query_head\""));
    REQUIRE(problems.size() == 2);  // the misspelt key is unknown, and the right one is missing
    CHECK(problems[0].find("attention.query_heads: is missing") != std::string::npos);
    CHECK(problems[1].find("did you mean \"query_heads\"") != std::string::npos);
}

TEST_CASE("missing, negative, zero, fractional and absurd numbers are refused") {
    check_only_problem(with("\"width\": 64,", ""), "width: is missing");
    check_only_problem(with("\"width\": 64", "\"width\": -64"), "width: is -64");
    check_only_problem(with("\"width\": 64", "\"width\": 0"), "width: is 0");
    check_only_problem(with("\"width\": 64", "\"width\": 64.5"), "must be a whole number");
    check_only_problem(with("\"width\": 64", "\"width\": 1e18"), "width");
    check_only_problem(with("\"width\": 64", "\"width\": \"64\""), "width");
    check_only_problem(with("\"repeat\": 2", "\"repeat\": 100000000"), "order[0].repeat");
    check_only_problem(with("\"hidden\": 128", "\"hidden\": 1e300"), "layers.decoder.blocks[1].mlp.hidden");
}

TEST_CASE("heads that do not divide, experts that do not exist, layers that are not described") {
    check_only_problem(with("\"kv_heads\": 2", "\"kv_heads\": 3"), "query_heads (4) must be a multiple of kv_heads (3)");
    check_only_problem(
        with("{\"mlp\": {\"hidden\": 128}}", "{\"mixture_of_experts\": {\"experts\": 4, \"active\": 5, \"hidden\": 8}}"),
        "active (5) must not exceed experts (4)");
    check_only_problem(with("[\"decoder\"]", "[\"decodr\"]", with("\"repeat\": 2", "\"repeat\": 2")),
                       "\"decodr\" is not one of the layers described above; did you mean \"decoder\"?");
    check_only_problem(
        with("{\"mlp\": {\"hidden\": 128}}", "{\"mlp\": {\"hidden\": 1}, \"projection\": {\"in\": 1, \"out\": 1}}"),
        "exactly one kind of block");
}

TEST_CASE("all problems of a file are told at once") {
    std::string text = with("\"width\": 64", "\"width\": -1");
    text = with("\"hidden\": 128", "\"hiden\": 128", text);
    text = with("\"norm\": \"rms\"", "\"norm\": \"rsm\"", text);
    CHECK(problems_in(text).size() == 4);  // width, norm, hidden missing, hiden unknown
}

TEST_CASE("files that are not JSON, are truncated or are not there") {
    check_only_problem(good.substr(0, good.size() / 2), "truncated");
    check_only_problem("", "is empty");
    check_only_problem("[1, 2]", "must hold an object");
    check_only_problem(with("\"width\": 64", "\"width\": NaN"), "NaN");
    CHECK_THROWS_AS(load_model(catalogue, "no/such/file.json"), text::InputError);
    CHECK_THROWS_AS(load_model("no/such/folder", "llama-3-8b"), text::InputError);
    CHECK_THROWS_AS(load_model(catalogue, catalogue.string()), text::InputError);  // a folder without config.json
}

TEST_CASE("precision names its formats") {
    const std::string at = "\"norm\": \"rms\",";
    check_only_problem(with(at, at + "\"precision\": {\"weights\": \"bf17\"},"), "did you mean \"bf16\"");
    check_only_problem(with(at, at + "\"precision\": {\"weights\": {\"format\": \"int4\", \"group_size\": -1}},"),
                       "group_size");
    const TemporaryFile file(with(at, at + "\"precision\": {\"weights\": {\"format\": \"int4\", \"group_size\": 32}},"));
    const sim::Precision precision = load_model(catalogue, file.path()).value.precision;
    CHECK(precision.weights.per_element().value() == Approx((4.0 + 16.0 / 32.0) / 8.0));
    CHECK(precision.experts == precision.weights);  // routed experts follow the weights unless stated
    CHECK(precision.exceptions.empty());
    const TemporaryFile mixed(with(at, at + R"("precision": {"weights": "fp8", "math": "fp8", "exceptions": {
        "down projection": {"storage": "fp4", "math": "fp4"}, "decoder: output projection": {"storage": "bf16"}}},)"));
    const sim::Precision exceptions = load_model(catalogue, mixed.path()).value.precision;
    CHECK(sim::weight_format(exceptions, "decoder: down projection", exceptions.weights).storage.format ==
          sim::NumberFormat::fp4);
    CHECK(sim::weight_format(exceptions, "decoder: output projection", exceptions.weights).math == sim::NumberFormat::bf16);
    check_only_problem(with(at, at + R"("precision": {"exceptions": {"down projection": {"storage": "fp5"}}},)"), "storage");
}

TEST_CASE("no single broken value in a description brings the program down") {
    const nlohmann::ordered_json whole = nlohmann::ordered_json::parse(good);
    const std::vector<nlohmann::ordered_json> wrong = {
        nullptr, -1, 0, 1e30, "text", true, nlohmann::ordered_json::array(), nlohmann::ordered_json::object()};
    const nlohmann::ordered_json leaves = whole.flatten();
    for (const auto& [pointer, value] : leaves.items()) {
        for (const nlohmann::ordered_json& replacement : wrong) {
            nlohmann::ordered_json broken = whole;
            broken[nlohmann::ordered_json::json_pointer(pointer)] = replacement;
            const TemporaryFile file(broken.dump());
            try {
                const sim::Model model = load_model(catalogue, file.path()).value;
                CHECK(problems_of(model).empty());
            } catch (const text::InputError& error) {
                CHECK_FALSE(error.problems().empty());
            }
        }
    }
}

}  // namespace model_bad_input_test
