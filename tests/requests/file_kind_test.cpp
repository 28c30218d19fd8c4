// What a file is, told by its keys: every example and every file of the catalogue.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "json/reader.h"
#include "requests/file_kind.h"
#include "setups.h"

namespace file_kind_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::source_folder;

namespace {

FileKind kind_of_file(const std::string& file) {
    json::Document document = json::Document::load(source_folder() / file);
    return kind_of(document.root().raw());
}

}  // namespace

TEST_CASE("a file says which command or flag takes it") {
    const auto taker = [](const std::string& file) {
        return taken_by(json::Document::load(source_folder() / file).root().raw());
    };
    CHECK(taker("examples/starter.json") == "treeline recommend");
    CHECK(taker("examples/devices/spire-hoi-600.json") == "--device");
    CHECK(taker("examples/fits/break-even-stree-8b.json") == "treeline study break-even");
    CHECK(taker("examples/acceptance/sequoia-demo.json") == "treeline tree optimise --acceptance");
    CHECK(taken_by({{"kind", "eagle3"}, {"layers", 1}}) == "--drafter");
    CHECK(taken_by({{"kind", "Deployment"}}).empty());
    CHECK(taken_by(nlohmann::ordered_json::object()).empty());
}

TEST_CASE("files of every kind are told apart") {
    CHECK(kind_of_file("examples/starter.json") == FileKind::workload);
    CHECK(kind_of_file("examples/spire-study.json") == FileKind::sweep);
    CHECK(kind_of_file("examples/estimate-spire.json") == FileKind::point);
    CHECK(kind_of_file("examples/runs/vllm-16035.json") == FileKind::run);
    CHECK(kind_of_file("examples/fpga/explore-vck190.json") == FileKind::design_search);
    CHECK(kind_of_file("examples/fpga/specmamba-claims.json") == FileKind::claims);
    CHECK(kind_of_file("examples/fpga/specmamba-vck190.json") == FileKind::accelerator_run);
    CHECK(kind_of_file("examples/fpga/my-board.json") == FileKind::board);
    CHECK(kind_of_file("examples/bandit/mamba-drafters.json") == FileKind::bandit);
    CHECK(kind_of_file("examples/bandit/pythia-6.9b-rtx4090.json") == FileKind::bandit);
    CHECK(kind_of_file("examples/traffic/measured-table.json") == FileKind::traffic);
    CHECK(kind_of_file("examples/policies/dspark-qwen3-14b-h100.json") == FileKind::policies);
    CHECK(kind_of_file("examples/policies/measured-dfly-hy3-h20.json") == FileKind::policies);
    CHECK(kind_of_file("examples/fits/break-even-stree-8b.json") == FileKind::break_even);
    CHECK(kind_of_file("examples/acceptance/stree-temperatures.json") == FileKind::acceptance_study);
    CHECK(kind_of_file("examples/acceptance/sequoia-demo.json") == FileKind::rank_acceptance);
    CHECK(kind_of_file("examples/decode/pythia-chain.json") == FileKind::decoding);
    CHECK(kind_of_file("examples/trees/stree-mil.json") == FileKind::tree);
    CHECK(kind_of_file("models/qwen3-8b.json") == FileKind::model);
    CHECK(kind_of_file("models/drafters/eagle3-qwen3-8b.json") == FileKind::published_drafter);
    CHECK(kind_of_file("hardware/gpu/h100-sxm.json") == FileKind::device);
    CHECK(kind_of_file("hardware/stacks/vllm-0.25.json") == FileKind::stack);
    CHECK(kind_of_file("hardware/calibrations/a100-sxm-80.json") == FileKind::calibration);
    CHECK(kind_of_file("calibrate/published/stree.json") == FileKind::experiments);
}

TEST_CASE("a file of another kind says what it is and what takes it") {
    const nlohmann::ordered_json sweep = {{"axes", {{"batch", 1}}}};
    CHECK(other_kind(sweep, "mine.json", {FileKind::workload}) ==
          "holds a sweep, not a workload: `treeline sweep mine.json` prices it");
    CHECK(other_kind(sweep, "mine.json", {FileKind::workload, FileKind::sweep}).empty());
    CHECK(other_kind({{"title", "x"}}, "mine.json", {FileKind::workload})
              .empty());  // of no kind: its reader says what is missing
    CHECK(
        other_kind({{"format", "treeline-run"}}, "{}.json", {FileKind::point}) ==
        "holds a measured run, not a design point: `treeline diagnose {}.json` explains it, and --acceptance {}.json takes its "
        "acceptance");
}

}  // namespace file_kind_test
