// A stack that extends another one: what it states counts, what it does not state is the other's.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include "hardware/catalogue.h"
#include "source_folder.h"

namespace stack_extends_test {

using namespace treeline;

namespace {

const std::filesystem::path catalogue = treeline::testing::source_folder() / "hardware";

/// Descriptions in a folder that is gone when the test ends.
class StackFiles {
public:
    StackFiles() { std::filesystem::create_directories(folder_); }
    StackFiles(const StackFiles&) = delete;
    StackFiles& operator=(const StackFiles&) = delete;
    ~StackFiles() { std::filesystem::remove_all(folder_); }

    std::string add(const std::string& name, const std::string& content) const {
        std::ofstream(path(name)) << content;
        return path(name);
    }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / (name + ".json")).string(); }

private:
    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("treeline_stack_extends_" + std::to_string(::getpid()));
};

std::string error_of(const std::string& path) {
    try {
        static_cast<void>(hardware::load_stack(catalogue, path));
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE(
    "engines read prompts in chunks as they set them by device, and a stack that states another chunk has it everywhere") {
    const auto tokens = [](const std::string& stack, const char* device) {
        return hardware::load_stack(catalogue, stack)
            .value.serving.prefill_tokens_on(hardware::load_device(catalogue, device).value);
    };
    for (const auto& [device, vllm, sglang] :
         {std::tuple{"rtx-3090", 2048.0, 2048.0}, std::tuple{"l40s", 2048.0, 4096.0}, std::tuple{"a100-sxm-80", 2048.0, 8192.0},
          std::tuple{"h100-sxm", 8192.0, 8192.0}, std::tuple{"rtx-pro-6000", 8192.0, 8192.0},
          std::tuple{"h200", 8192.0, 8192.0}, std::tuple{"b200", 8192.0, 16384.0}}) {
        INFO(device);
        CHECK(tokens("vllm", device) == vllm);
        CHECK(tokens("sglang", device) == sglang);
    }
    const StackFiles files;
    const std::string mine = files.add("mine", R"({"title": "Mine", "extends": "vllm",
        "prefill_tokens": {"value": 4096, "source": "--max-num-batched-tokens", "kind": "published"}})");
    CHECK(tokens(mine, "rtx-3090") == 4096.0);
    const std::string none = files.add("none", R"({"title": "None", "extends": "vllm", "prefill_tokens": {"value": 4096,
        "source": "s", "kind": "published", "on_devices": [{"tokens": {"value": 0, "source": "s", "kind": "published"}}]}})");
    CHECK_THAT(error_of(none), Catch::Contains("prefill_tokens.on_devices[0].tokens"));
}

TEST_CASE("a stack that extends another one differs from it in what it states, and null takes a key away") {
    const StackFiles files;
    const std::string mine = files.add("mine", R"({"title": "Mine", "extends": "vllm-0.10", "calibrated": null,
        "host_per_round": {"value": 900, "unit": "us", "source": "measured here", "kind": "measured"}})");
    const auto [stack, provenance] = hardware::load_stack(catalogue, mine);
    const sim::Stack base = hardware::load_stack(catalogue, "vllm-0.10").value;
    CHECK(stack.name == "mine");
    CHECK(stack.title == "Mine");
    CHECK(stack.host[sim::HostDriver::round].value() == Approx(900e-6));
    CHECK(stack.passes.host_per_pass.value() == base.passes.host_per_pass.value());
    CHECK(stack.kernels.memory_efficiency == base.kernels.memory_efficiency);
    CHECK(base.kernels.calibrated.has_value());
    CHECK_FALSE(stack.kernels.calibrated.has_value());
    CHECK(stack.own_numbers == std::vector<std::string>{"host_per_round"});
    CHECK(base.own_numbers.empty());
    CHECK(hardware::load_stack(catalogue, "vllm").value.own_numbers.empty());       // stands for the newest version
    CHECK(hardware::load_stack(catalogue, "vllm@0.11").value.own_numbers.empty());  // for the nearest one

    SECTION("and may be extended in turn, by path") {
        const std::string next = files.add("next", R"({"title": "Next", "extends": ")" + mine + R"("})");
        CHECK(hardware::load_stack(catalogue, next).value.host[sim::HostDriver::round].value() == Approx(900e-6));
    }
    SECTION("its fitted copy is whole") {
        const nlohmann::ordered_json whole = hardware::stack_document(catalogue, mine).root().raw();
        CHECK_FALSE(whole.contains("extends"));
        CHECK(whole.contains("memory_efficiency"));
    }
}

TEST_CASE("a stack that extends nothing known, or itself, is refused in one sentence that names its file") {
    const StackFiles files;
    CHECK_THAT(error_of(files.add("unknown", R"({"title": "A", "extends": "vllm-0.21"})")),
               Catch::Contains("unknown.json: extends: ") && Catch::Contains("the nearest version known is \"vllm-0.14\""));
    CHECK_THAT(error_of(files.add("circle", R"({"title": "A", "extends": ")" + files.path("circle") + R"("})")),
               Catch::Contains("circle.json: extends: ") && Catch::Contains("in a circle"));
    CHECK_THAT(error_of(files.add("number", R"({"title": "A", "extends": 3})")),
               Catch::Contains("number.json: extends: must be a non-empty text"));
    CHECK_THAT(error_of(files.add("key", R"({"title": "A", "extends": "vllm-0.10", "host_per_rond": 3})")),
               Catch::Contains("key.json: host_per_rond"));
}

TEST_CASE("a stack says which cuts its engine does not run, in degrees that are known") {
    const StackFiles files;
    const auto with_cuts = [&](const std::string& name, const std::string& cuts) {
        return files.add(name, R"({"title": "A", "extends": "vllm-0.10", "cuts_not_run": )" + cuts + "}");
    };
    const std::string pairs = R"([{"degrees": ["tensor_parallel", "pipeline_parallel"], "source": "measured"}])";
    const auto stack = hardware::load_stack(catalogue, with_cuts("cuts", pairs)).value;
    CHECK(stack.drafts.cuts_not_run ==
          std::vector<std::vector<sim::CutDegree>>{{sim::CutDegree::tensor, sim::CutDegree::pipeline}});
    CHECK_THAT(error_of(with_cuts("none", R"([{"degrees": [], "source": "measured"}])")), Catch::Contains("degrees"));
    CHECK_THAT(error_of(with_cuts("missing", R"([{"source": "measured"}])")),
               Catch::Contains("must name at least one degree of parallelism"));
    CHECK_THAT(error_of(with_cuts("other", R"([{"degrees": ["tensor"], "source": "measured"}])")),
               Catch::Contains("did you mean \"tensor_parallel\""));
    CHECK_THAT(error_of(with_cuts("unsourced", R"([{"degrees": ["expert_parallel"]}])")), Catch::Contains("source"));
}

}  // namespace stack_extends_test
