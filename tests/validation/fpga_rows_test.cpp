// Are rows of accelerators predicted by the model that `treeline estimate` runs, and is what was fitted on them said?
#include <algorithm>

#include <catch2/catch.hpp>

#include "requests/fpga/fpga_run_reader.h"
#include "requests/validate/experiment_reader.h"
#include "source_folder.h"
#include "sweeps/fpga/fpga_estimate.h"
#include "validation/breakdown.h"
#include "validation/predict.h"
#include "validation/validate.h"

namespace fpga_rows_test {

using namespace treeline;
using namespace treeline::validation;

namespace {

const std::filesystem::path source = treeline::testing::source_folder();
const requests::Catalogue catalogue = {source / "models", source / "hardware"};

struct Found {
    requests::ExperimentFiles files = requests::read_experiments({source / "calibrate/published/specmamba.json"}, catalogue);

    [[nodiscard]] const ExperimentRow& row(const std::string& name) const {
        for (const ExperimentTable& table : files.papers.at(0).tables) {
            for (const ExperimentRow& row : table.rows) {
                if (row.name == name) {
                    return row;
                }
            }
        }
        throw std::out_of_range(name);
    }
    [[nodiscard]] double predicted(const std::string& name) const { return validation::predicted(row(name), sim::Platform{}); }
};

sweeps::FpgaEstimate example(const std::string& name) {
    requests::FpgaFlags flags;
    flags.file = (source / "examples/fpga" / name).string();
    return sweeps::estimate_fpga(requests::read_fpga_run(flags, catalogue));
}

}  // namespace

TEST_CASE("Rows of accelerators are what `treeline estimate` says") {
    const Found found;
    const sweeps::FpgaEstimate spec = example("specmamba-vck190.json");
    const sweeps::FpgaEstimate light = example("lightmamba-vck190.json");
    CHECK(found.predicted("VCK190, SpecMamba") == spec.round.tokens_per_second);
    CHECK(found.predicted("VCK190, LightMamba") == light.round.tokens_per_second);
    CHECK(found.predicted("over LightMamba") == spec.round.tokens_per_joule / light.round.tokens_per_joule);
    CHECK(found.predicted("VCK190, URAMs") == spec.resources.total.urams);
    CHECK(found.predicted("VHK158, BRAM18s") == example("specmamba-vhk158.json").resources.total.bram18s);
    const auto stages = sim::fpga::ablation(spec.run.board, spec.run.design, spec.run.target.shape, spec.run.drafter->shape,
                                            spec.run.tree, spec.run.accept_length);
    CHECK(found.predicted("T1 hybrid backtracking, latency") == Approx(stages[2].latency_gain));
    CHECK(found.predicted("T3 overlap, energy") == Approx(stages[4].energy_gain));
}

TEST_CASE("Terms of a round on an accelerator make the round") {
    const Found found;
    const auto terms = breakdown_of(found.row("VCK190, SpecMamba"), sim::Platform{}).terms;
    const auto value = [&](const std::string& name) {
        return std::find_if(terms.begin(), terms.end(), [&](const PredictedTerm& term) { return term.name == name; })->value;
    };
    CHECK(value("round") == Approx(value("draft") + value("verify")));
    CHECK(value("accept length") / value("round") == Approx(found.predicted("VCK190, SpecMamba")));
    CHECK(breakdown_of(found.row("over LightMamba"), sim::Platform{}).relative_to.size() == terms.size());
}

TEST_CASE("Numbers that a design's description fits are named, and their rows are no test rows") {
    Found found;
    const Validation validation = validate(std::move(found.files.papers), found.files.platforms);
    CHECK(validation.problems.empty());
    const auto spec = std::find_if(validation.fits.begin(), validation.fits.end(),
                                   [](const PlatformFit& fit) { return fit.platform == "SpecMamba on VCK190"; });
    REQUIRE(spec != validation.fits.end());
    const auto names = [&](const std::string& part) {
        return std::any_of(spec->in_description.begin(), spec->in_description.end(),
                           [&](const std::string& sentence) { return sentence.find(part) != std::string::npos; });
    };
    CHECK(names("ssm.lanes"));
    CHECK(names("power.picojoules_per_product"));
    int fitted = 0;
    for (const PredictedRow& row : validation.rows) {
        const std::string& name = validation.row(row).name;
        if (name == "T3 overlap, latency" || name == "VCK190, SpecMamba" || name == "VCK190, DSPs") {
            fitted += row.role == Role::fit ? 1 : 0;
        }
    }
    CHECK(fitted == 3);
}

}  // namespace fpga_rows_test
