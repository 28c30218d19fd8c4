// Decoders of a check: rows written and read back, predictions beside them, choices, and one quick run for real.
#include <catch2/catch.hpp>

#include <algorithm>

#include "calibrate/tables/measurement_files.h"
#include "calibrate/tables/table_rows.h"
#include "json/reader.h"
#include "own_machine.h"
#include "reports/calibrate/calibration_output.h"
#include "setups.h"

namespace decoder_check_test {

using namespace treeline;
using namespace treeline::calibrate;
using treeline::testing::Folder;
using treeline::testing::some_machine;

namespace {

const std::vector<std::pair<std::string, double>> some_phases = {
    {"draft", 1e-3}, {"verify", 2e-3}, {"rollback", 0.0}, {"host", 1e-5}};

Measurement taking(double seconds) { return {0, seconds, seconds, seconds, 0.0, 12, false, {}, {}}; }

DecoderCheck check_of(const HeldOutDecoder& decoder, double measured, double predicted) {
    return {decoder, Seconds(measured), Seconds(predicted), {}, {}};
}

std::vector<MeasuredFile> file_with(const std::string& header, const std::string& row) {
    return {parse_measured_rows(header + "\n" + row + "\n", "x_decoder.csv")};
}

const std::string columns =
    "family,dtype,batch,context,drafter,draft,verification,rollback,accepted,latency_us,draft_us,verify_us,rollback_us,host_us";

}  // namespace

TEST_CASE("decoders are written, found again, and read back in the order of the list") {
    const Folder folder;
    const Machine machine = some_machine();
    const std::vector<HeldOutDecoder> decoders = held_out_decoders(false, true);
    MeasurementFiles files(folder.path, machine);
    for (std::size_t i = decoders.size(); i-- > 0;) {
        files.put(decoder_case(decoders[i]), taking(1e-3 * static_cast<double>(i + 1)), 1, some_phases);
    }
    files.save();
    const MeasurementFiles again(folder.path, machine);
    for (const HeldOutDecoder& decoder : decoders) {
        CHECK(again.holds(decoder_case(decoder)));
    }
    const sim::Device device = testing::device("generic-x86");
    const std::vector<DecoderCheck> checks = checked_decoders(again.read(), device);
    REQUIRE(checks.size() == decoders.size());
    for (std::size_t i = 0; i < checks.size(); ++i) {
        CHECK(checks[i].decoder == decoders[i]);
        CHECK(checks[i].measured.value() == Approx(1e-3 * static_cast<double>(i + 1)));
        CHECK(checks[i].measured_phases.verify.value() == Approx(2e-3));
        CHECK(checks[i].predicted == checks[i].predicted_phases.round());
    }
    // Rows of decoders are no kernels that laws are fitted to.
    const TableKind* kind = kind_of(again.read()[0].rows[0]);
    REQUIRE(kind != nullptr);
    CHECK(kind->name == "decoder");
    CHECK(kind->convert == nullptr);
}

TEST_CASE("rows of other decoders, and rows without phases, are refused") {
    const sim::Device device = testing::device("generic-x86");
    const std::string good = "mamba2,fp32,1,256,first-layer,chain 4,unrolled,replay,3,9000,1,2,3,4";
    CHECK(checked_decoders(file_with(columns, good), device).size() == 1);
    CHECK_THROWS_WITH(
        checked_decoders(file_with(columns, "mamba2,fp32,3,256,first-layer,chain 4,unrolled,replay,3,9000,1,2,3,4"), device),
        Catch::Contains("line 2: is not a decoder that Treeline holds out"));
    const std::string shorter = columns.substr(0, columns.rfind(','));
    CHECK_THROWS_WITH(checked_decoders(file_with(shorter, good.substr(0, good.rfind(','))), device),
                      Catch::Contains("has no column host_us"));
    CHECK_THROWS_WITH(
        checked_decoders(file_with(columns, "mamba2,fp32,1,256,first-layer,chain 4,unrolled,replay,3,9000,-1,2,3,4"), device),
        Catch::Contains("draft_us must be a number of at least 0"));
}

TEST_CASE("the best choice goes by time of a produced token, and regret by measured time") {
    std::vector<HeldOutDecoder> decoders = held_out_decoders(false, true);
    const HeldOutDecoder plain = decoders[0], chain = decoders[1], tree = decoders[2], other = decoders[3];
    REQUIRE(plain.accepted == 0);
    REQUIRE(chain.accepted == 3);
    REQUIRE(tree.accepted == 2);
    // A token takes 10, 6 and 5 ms measured, and 9, 5 and 5.5 ms predicted: the chain would be chosen, at 6 / 5 − 1 = 20 %.
    const std::vector<DecoderCheck> checks = {check_of(plain, 10e-3, 9e-3), check_of(chain, 24e-3, 20e-3),
                                              check_of(tree, 15e-3, 16.5e-3), check_of(other, 1e-3, 1e-3)};
    const std::vector<DecoderChoice> choices = choices_of(checks);
    REQUIRE(choices.size() == 1);  // the other group has no choice
    CHECK(choices[0].choices == 3);
    CHECK(choices[0].best_measured == policy_of(tree));
    CHECK(choices[0].best_predicted == policy_of(chain));
    CHECK(choices[0].regret == Approx(0.2));
    const std::string text = reports::decoder_check_text(checks);
    CHECK(text.find("Regret: median 20.0 %, largest 20.0 %") != std::string::npos);
    CHECK(text.find("4 configurations. Errors: median") != std::string::npos);
}

TEST_CASE("a check is kept with the calibration and shown on its page") {
    CalibrationAnswer answer;
    answer.device = testing::device("generic-x86");
    const std::vector<HeldOutDecoder> decoders = held_out_decoders(false, true);
    answer.decoders = {check_of(decoders[0], 10e-3, 11e-3), check_of(decoders[1], 24e-3, 20e-3)};
    answer.check = {{"mamba2", "one token", Seconds(1e-3), Seconds(1e-3)}};
    const nlohmann::json check = nlohmann::json::parse(reports::calibration_json(answer))["check"];
    CHECK(check["decoders"].size() == 2);
    CHECK(check["decoders"][1]["tokens"] == 4.0);
    CHECK(check["decoders"][0]["predicted_us"] == Approx(11e3));
    CHECK(check["layers"].size() == 1);
    CHECK(check["choices"][0]["regret"] == Approx(0.0).margin(1e-9));
    const nlohmann::ordered_json shown = reports::section_json(reports::check_section(answer));
    CHECK(shown["figures"][0]["rows"].size() == 3);
    CHECK(shown["figures"][0]["band"] == Approx(0.1));
    CHECK(shown["figures"][1]["rows"].size() == 4);
    CHECK(reports::calibration_page(answer).find("check-parity") != std::string::npos);
}

TEST_CASE("decoders run for real: a sample for each round, its phases, and conditions beside it", "[slow]") {
    const MeasuredDevice cpu{&kernels::cpu_backend(), false, {}};
    const std::vector<HeldOutDecoder> decoders = held_out_decoders(false, true);
    std::vector<Skipped> skipped;
    const std::vector<Target> targets = decoder_targets(decoders, {0, 1}, {2, 6}, false, skipped);
    Sentinel sentinel(cpu, std::size_t{1} << 20);
    REQUIRE(targets.size() == 2);
    for (const Target& target : targets) {
        const std::vector<Sample> samples = target.visit(sentinel);
        REQUIRE(samples.size() == 6);
        double least_drafting = samples.front().parts.at(0);  // a busy machine may lengthen any one of them
        for (const Sample& sample : samples) {
            REQUIRE(sample.parts.size() == 4);
            least_drafting = std::min(least_drafting, sample.parts[0]);
            CHECK(sample.parts[0] + sample.parts[1] + sample.parts[2] + sample.parts[3] ==
                  Approx(sample.seconds).epsilon(1e-6));
            CHECK(sample.before.launch > 0.0);
            CHECK(sample.after.launch > 0.0);
        }
        CHECK((least_drafting > 1e-4) == (target.index == 1));  // plain decoding moves one id
    }
    CHECK(skipped.empty());
}

}  // namespace decoder_check_test
