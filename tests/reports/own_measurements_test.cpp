// Measurements of the machine's own device: written, resumed, read back, described; and whole passes of llama-bench.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "calibrate/measure/own_device.h"
#include "calibrate/tables/fit_tables.h"
#include "calibrate/tables/kernel_tables.h"
#include "calibrate/tables/measured_machine.h"
#include "calibrate/tables/measurement_files.h"
#include "calibrate/tables/run_records.h"
#include "json/reader.h"
#include "own_machine.h"
#include "reports/calibrate/calibration_output.h"
#include "setups.h"
#include "sim/law_choice.h"
#include "text/file_roles.h"

namespace own_measurements_test {

using namespace treeline;
using treeline::testing::Folder;
using treeline::testing::some_machine;

namespace {

namespace fs = std::filesystem;

calibrate::KernelCase product(int m, int n) {
    calibrate::KernelCase kernel;
    kernel.table = "gemm";
    kernel.columns = {{"dtype", "fp32"}, {"m", std::to_string(m)}, {"n", std::to_string(n)}, {"k", "1024"}};
    return kernel;
}

calibrate::KernelCase state_update() {
    calibrate::KernelCase kernel;
    kernel.table = "mamba2_scan";
    kernel.columns = {{"form", "final"},  {"batch", "16"},       {"tokens", "1"},   {"heads", "80"},
                      {"head_dim", "64"}, {"state_size", "128"}, {"dtype", "fp32"}, {"state_dtype", "fp32"}};
    return kernel;
}

calibrate::KernelCase reading() {
    calibrate::KernelCase kernel;
    kernel.table = "probe";
    kernel.columns = {{"probe", "read"}, {"bytes", "1000000"}};
    return kernel;
}

calibrate::Measurement taking(double seconds) {
    calibrate::Measurement measured{0, 0.9 * seconds, seconds, 1.2 * seconds, 0.05 * seconds, 9, false, {}, {}};
    measured.seen.launch = 1e-6;
    measured.seen.clock = 3.5e9;
    return measured;
}

std::string sentence_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "accepted";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

calibrate::KernelCase all_reduce(double bytes) {
    calibrate::KernelCase kernel;
    kernel.table = "all_reduce";
    kernel.columns = {{"ranks", "2"}, {"bytes", std::to_string(static_cast<long long>(bytes))}, {"dtype", "bf16"}};
    return kernel;
}

/// Rows of llama-bench for one model.
std::string llama_rows(const std::string& model, double bytes, double parameters) {
    std::string text;
    for (const int tokens : {1, 4, 16}) {
        text += (text.empty() ? "" : ",") + std::string(R"({"model_type":")") + model +
                R"(","gpu_info":"NVIDIA H100 80GB HBM3",)" + R"("n_ubatch":512,"n_gen":0,"n_depth":0,"n_prompt":)" +
                std::to_string(tokens) + R"(,"model_size":)" + std::to_string(static_cast<long long>(bytes)) +
                R"(,"model_n_params":)" + std::to_string(static_cast<long long>(parameters)) + R"(,"avg_ns":)" +
                std::to_string(static_cast<long long>(bytes / 2500.0)) + "}";  // 2.5 TB/s = 2500 bytes a nanosecond
    }
    return text;
}

}  // namespace

TEST_CASE("an interrupted run finds what it measured") {
    const Folder folder;
    const calibrate::Machine machine = some_machine();
    {
        calibrate::MeasurementFiles files(folder.path, machine);
        files.put(product(1, 4096), taking(1e-3), 200'000'000);
        files.save();
        files.put(product(2, 4096), taking(2e-3), 200'000'000);
        files.save();
        files.put(product(4, 4096), taking(2e-3), 200'000'000);  // interrupted before it was saved
    }
    const calibrate::MeasurementFiles again(folder.path, machine);
    CHECK(again.holds(product(1, 4096)));
    CHECK(again.holds(product(2, 4096), 9));
    CHECK_FALSE(again.holds(product(2, 4096), 10));  // more samples are wanted
    CHECK_FALSE(again.holds(product(4, 4096)));
    CHECK_FALSE(again.holds(reading()));
    REQUIRE(again.read().size() == 1);
    CHECK(again.read()[0].rows.size() == 2);
    CHECK(again.read()[0].device == "some-cpu-2-cores");
    REQUIRE(again.conditions().size() == 2);
    CHECK(again.conditions()[1].launch == Approx(1e-6));
    CHECK(again.conditions()[1].clock == Approx(3.5e9));
    calibrate::Machine other = machine;
    other.name = "other-cpu";
    CHECK(holds(sentence_of([&] { const calibrate::MeasurementFiles refused(folder.path, other); }),
                "was measured on some-cpu-2-cores, but this is other-cpu"));
}

TEST_CASE("a case that is measured again keeps one line, the last; conditions stand beside the tables") {
    const Folder folder;
    const calibrate::Machine machine = some_machine();
    {
        calibrate::MeasurementFiles files(folder.path, machine);
        files.put(product(1, 4096), taking(1e-3), 200'000'000);
        files.put(product(16, 4096), taking(5e-3), 200'000'000);
        files.save();
    }
    calibrate::MeasurementFiles files(folder.path, machine);
    files.put(product(1, 4096), taking(2e-3), 200'000'000);
    // Marked as drifted, it stays out of what is fitted, and is to be measured again.
    calibrate::Measurement drifted = taking(3e-3);
    drifted.drifted = true;
    files.put(product(2, 4096), drifted, 200'000'000);
    files.save();
    calibrate::ProtocolRun run;
    run.passes.resize(2);
    run.passes[1].conditions.clock = 3.5e9;
    run.passes[1].conditions.temperature = 52.0;
    calibrate::write_conditions(folder.path, machine, run, "limits: 300 W");
    const calibrate::MeasurementFiles again(folder.path, machine);
    const std::vector<calibrate::MeasuredFile> read = again.read();
    REQUIRE(read.size() == 1);
    REQUIRE(read[0].rows.size() == 2);
    CHECK(read[0].rows[0].time.value() == Approx(0.9 * 2e-3));  // the first quartile
    CHECK(read[0].rows[1].time.value() == Approx(0.9 * 5e-3));
    CHECK(read[0].drifted.size() == 1);
    CHECK(again.holds(product(1, 4096)));
    CHECK_FALSE(again.holds(product(2, 4096)));
    CHECK(again.conditions().size() == 2);
    std::ifstream conditions(folder.path / "some-cpu-2-cores_conditions.csv");
    const std::string text{std::istreambuf_iterator<char>(conditions), {}};
    CHECK(holds(text, ",3500,52,"));
    CHECK(holds(text, "# limits: 300 W"));
}

TEST_CASE("results of two runs are merged: of a case measured twice, what is known better counts") {
    const Folder one, two, both;
    const calibrate::Machine machine = some_machine();
    calibrate::Measurement well_known = taking(2e-3), throttled = taking(4e-3);
    well_known.samples = 40;
    throttled.samples = 60;
    throttled.throttled = 1.0;
    {
        calibrate::MeasurementFiles files(one.path, machine), others(two.path, machine);
        files.put(product(1, 4096), taking(1e-3), 200'000'000);
        files.put(product(2, 4096), taking(1e-3), 200'000'000);
        files.put(product(8, 4096), taking(1e-3), 200'000'000);
        others.put(product(2, 4096), well_known, 200'000'000);
        others.put(product(4, 4096), taking(3e-3), 200'000'000);
        others.put(product(8, 4096), throttled, 200'000'000);
        files.save();
        others.save();
    }
    {
        calibrate::MeasurementFiles files(both.path, machine);
        files.merge(calibrate::read_measurements(two.path));
        files.merge(calibrate::read_measurements(one.path));
        files.save();
    }
    const std::vector<calibrate::MeasuredFile> read = calibrate::read_measurements(both.path);
    REQUIRE(read.size() == 1);
    std::map<std::string, double> time;
    for (const calibrate::MeasuredRow& row : read[0].rows) {
        time[row.values.at("m")] = row.time.value();
    }
    REQUIRE(time.size() == 4);
    CHECK(time["1"] == Approx(0.9e-3));  // the first quartile
    CHECK(time["2"] == Approx(1.8e-3));
    CHECK(time["4"] == Approx(2.7e-3));
    CHECK(time["8"] == Approx(0.9e-3));
    calibrate::Machine other = machine;
    other.name = "other-cpu";
    calibrate::MeasurementFiles files(Folder().path, other);
    CHECK(holds(sentence_of([&] { files.merge(calibrate::read_measurements(one.path)); }), "was measured on some-cpu-2-cores"));
}

TEST_CASE("the machine and what is missing stand beside the tables, and are no tables") {
    const Folder folder;
    calibrate::Machine machine = some_machine();
    machine.title = "Some \"fast\" GPU, 80 GB";
    machine.is_gpu = true;
    machine.multiprocessors = 132;
    CHECK_FALSE(calibrate::read_machine(folder.path));
    calibrate::write_machine(folder.path, machine);
    calibrate::write_missing(folder.path, machine,
                             {{"gemm m=1", "no algorithm, \"here\"", false}, {"gemm m=2", "the device is gone", true}});
    const std::optional<calibrate::Machine> known = calibrate::read_machine(folder.path);
    REQUIRE(known);
    CHECK(known->title == machine.title);
    CHECK(known->name == machine.name);
    CHECK(known->is_gpu);
    CHECK(known->memory_bytes == machine.memory_bytes);
    CHECK(known->multiprocessors == 132);
    const std::vector<calibrate::MissingCase> missing = calibrate::read_missing(folder.path, machine);
    REQUIRE(missing.size() == 2);
    CHECK(missing[0].reason == "no algorithm, \"here\"");
    CHECK_FALSE(missing[0].is_fatal);
    CHECK(missing[1].is_fatal);
    CHECK(calibrate::read_measurements(folder.path).empty());
}

TEST_CASE("a run that goes on replaces the records of the run before, which it has read") {
    const Folder folder;
    const calibrate::Machine machine = some_machine();
    calibrate::write_machine(folder.path, machine);
    calibrate::write_missing(folder.path, machine, {{"gemm m=1", "the time did not suffice", false}});
    const text::InputRecord of_a_program;
    CHECK(calibrate::read_machine(folder.path));
    CHECK(calibrate::read_missing(folder.path, machine).size() == 1);
    CHECK_NOTHROW(calibrate::write_machine(folder.path, machine));
    CHECK_NOTHROW(calibrate::write_missing(folder.path, machine, {}));
    CHECK(calibrate::read_missing(folder.path, machine).empty());
}

TEST_CASE("our own kernels' laws price no engine that runs others") {
    const Folder folder;
    calibrate::Machine machine = some_machine();
    machine.name = "h100";
    calibrate::MeasurementFiles files(folder.path, machine);
    files.put(state_update(), taking(5e-3), 200'000'000);
    files.save();
    const std::vector<calibrate::KernelTable> tables = calibrate::kernel_tables_of(files.read(), testing::device("h100-sxm"));
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].family == sim::treeline_family);
    // On a CPU nothing else runs what is measured.
    sim::Device cpu = testing::device("h100-sxm");
    cpu.kind = sim::DeviceKind::cpu;
    CHECK(calibrate::kernel_tables_of(files.read(), cpu)[0].family.empty());

    sim::Calibration calibration;
    calibration.kernels = {{sim::KernelClass::attention, sim::NumberFormat::bf16, {}, std::string(sim::treeline_family)}};
    CHECK(calibration.law(sim::KernelClass::attention, sim::NumberFormat::bf16) == nullptr);
    CHECK(calibration.law(sim::KernelClass::attention_ungrouped, sim::NumberFormat::bf16) == nullptr);
    CHECK(calibration.own_law(sim::KernelClass::attention_ungrouped, sim::NumberFormat::bf16) == &calibration.kernels[0].law);
    calibration.kernels.push_back({sim::KernelClass::attention, sim::NumberFormat::bf16, {}, ""});
    CHECK(calibration.law(sim::KernelClass::attention, sim::NumberFormat::bf16) == &calibration.kernels[1].law);
}

TEST_CASE("own measurements become tables from main memory, with their scatter, and a description") {
    const Folder folder;
    const calibrate::Machine machine = some_machine();
    calibrate::MeasurementFiles files(folder.path, machine);
    for (const int n : {1024, 2048, 4096}) {
        files.put(product(8, n), taking(1e-3), 200'000'000);
    }
    files.put(reading(), taking(1e-4), 200'000'000);
    files.save();
    const calibrate::MachineFigures figures = calibrate::figures_of(files.read());
    CHECK(figures.read.value() == Approx(1e6 / 0.9e-4));  // the quartile of fast runs
    CHECK(figures.peak_of(sim::NumberFormat::fp32).value() == Approx(2.0 * 8 * 4096 * 1024 / 0.9e-3));
    CHECK(figures.peaks.at(sim::NumberFormat::fp32).shape == "m 8, n 4096, k 1024");

    const fs::path description = folder.path / "some-cpu-2-cores.json";
    std::ofstream(description) << calibrate::device_description(machine, figures, false, "calibration.json");
    const sim::Device device = hardware::load_uncalibrated_device({}, description.string()).value;
    CHECK(device.kind == sim::DeviceKind::cpu);
    CHECK(device.bandwidth.value() == Approx(1e6 / 0.9e-4).epsilon(1e-3));
    CHECK(device.cache.value() == Approx(32e6));
    CHECK(device.calibration_file == "calibration.json");

    const std::vector<calibrate::KernelTable> tables = calibrate::kernel_tables_of(files.read(), device);
    REQUIRE(tables.size() == 1);           // the probe is no kernel of a pass
    CHECK(tables[0].samples.size() == 3);  // 4 MB of weights: from memory, since they rotate over 200 MB
    CHECK(tables[0].samples[0].spread == Approx(0.05));
}

TEST_CASE("a product that was measured under unusual conditions alone still says how fast a device multiplies") {
    const Folder folder;
    const calibrate::Machine machine = some_machine();
    calibrate::MeasurementFiles files(folder.path, machine);
    calibrate::Measurement large = taking(1e-3);
    large.drifted = true;
    files.put(product(1, 1024), taking(1e-3), 200'000'000);
    files.put(product(8, 4096), large, 200'000'000);
    files.put(reading(), taking(1e-4), 200'000'000);
    files.save();
    const calibrate::MachineFigures figures = calibrate::figures_of(files.read());
    CHECK(figures.peaks.at(sim::NumberFormat::fp32).shape == "m 8, n 4096, k 1024");
    // Measured as usual later on, the same product no longer counts as it was.
    large.drifted = false;
    large.first_quartile = 4e-3;
    files.put(product(8, 4096), large, 200'000'000);
    files.save();
    CHECK(calibrate::figures_of(files.read()).peak_of(sim::NumberFormat::fp32).value() == Approx(2.0 * 8 * 4096 * 1024 / 4e-3));
}

TEST_CASE("products of one row describe no device") {
    const Folder folder;
    const calibrate::Machine machine = some_machine();
    calibrate::MeasurementFiles files(folder.path, machine);
    files.put(product(1, 4096), taking(1e-3), 200'000'000);
    files.put(reading(), taking(1e-4), 200'000'000);
    files.save();
    const calibrate::MachineFigures figures = calibrate::figures_of(files.read());
    CHECK_THROWS_WITH(calibrate::device_description(machine, figures, true, ""),
                      Catch::Contains("m 1, n 4096, k 1024) has one row"));
    CHECK_THROWS_WITH(calibrate::device_description(machine, figures, false, ""),
                      Catch::Contains("one of many rows is needed"));
}

TEST_CASE("a device whose states change in place faster than it reads has that bandwidth") {
    const Folder folder;
    const calibrate::Machine machine = some_machine();
    calibrate::MeasurementFiles files(folder.path, machine);
    files.put(product(8, 1024), taking(1e-3), 200'000'000);
    files.put(reading(), taking(1e-4), 200'000'000);
    files.put(state_update(), taking(5e-3), 200'000'000);
    files.save();
    const calibrate::MachineFigures figures = calibrate::figures_of(files.read());
    CHECK(figures.update.value() == Approx(2.0 * 4 * 16 * 80 * 64 * 128 / 4.5e-3));  // read and written
    REQUIRE(figures.update > figures.read);
    const std::string description = calibrate::device_description(machine, figures, false, "calibration.json");
    CHECK(holds(description, "updating states in memory that no cache holds"));
}

TEST_CASE("all-reduces of two devices are the link of a description and a law of our own kernel") {
    const Folder folder;
    calibrate::Machine machine = some_machine();
    machine.name = "h100";
    machine.is_gpu = true;
    calibrate::MeasurementFiles files(folder.path, machine);
    files.put(product(64, 1024), taking(1e-3), 200'000'000);
    files.put(reading(), taking(1e-4), 200'000'000);
    const auto seconds = [](double bytes) { return 6e-6 + bytes / 200e9; };
    for (double bytes = 4096.0; bytes <= 64e6; bytes *= 8.0) {
        files.put(all_reduce(bytes), taking(seconds(bytes) / 0.9), 200'000'000);  // of which the quartile of fast runs counts
    }
    files.save();
    const calibrate::MachineFigures figures = calibrate::figures_of(files.read());
    CHECK(figures.link.bandwidth().value() == Approx(200e9));
    CHECK(figures.link.shortest.value() == Approx(seconds(4096.0)));

    const fs::path description = folder.path / "h100.json";
    std::ofstream(description) << calibrate::device_description(machine, figures, true, "");
    const sim::Device device = hardware::load_uncalibrated_device({}, description.string()).value;
    REQUIRE(device.interconnects.size() == 1);
    CHECK(device.interconnects[0].bandwidth.value() == Approx(200e9).epsilon(1e-3));
    CHECK(device.interconnects[0].latency.value() == Approx(seconds(4096.0)).epsilon(1e-3));
    CHECK(device.interconnects[0].joins(2.0));
    CHECK_FALSE(device.interconnects[0].joins(4.0));

    std::vector<calibrate::KernelTable> tables = calibrate::kernel_tables_of(files.read(), device);
    const auto table = std::find_if(tables.begin(), tables.end(), [](const calibrate::KernelTable& each) {
        return each.kernel == sim::KernelClass::all_reduce;
    });
    REQUIRE(table != tables.end());
    CHECK(table->family == sim::treeline_family);  // engines run their own
    const auto fit = calibrate::calibrate(
        *table, calibrate::data_sheet_of(device, sim::KernelClass::all_reduce, sim::NumberFormat::bf16), {});
    REQUIRE(fit);
    CHECK(fit->law.startup.value() == Approx(6e-6).epsilon(0.01));
    CHECK(fit->held_out.median < 0.01);

    // Whoever runs our kernels is priced by it.
    sim::Platform platform;
    platform.device = device;
    platform.stack = testing::stack("ideal");
    platform.mode = sim::CostMode::calibrated;
    platform.device.calibration.emplace();
    platform.device.calibration->kernels = {{sim::KernelClass::all_reduce, sim::NumberFormat::bf16, fit->law, table->family}};
    sim::Operation operation;
    operation.kind = sim::OperationKind::collective;
    operation.ranks = 2.0;
    CHECK(sim::law_that_prices(operation, {}, platform) == &platform.device.calibration->kernels[0].law);
    platform.stack.kernels.runs_treeline_kernels = false;
    CHECK(sim::law_that_prices(operation, {}, platform) == nullptr);
}

TEST_CASE("llama-bench calibrates linear layers from whole passes") {
    const std::string three = "[" + llama_rows("llama 1B Q4_0", 0.7e9, 1.2e9) + "," + llama_rows("llama 8B Q4_0", 4.6e9, 8e9) +
                              "," + llama_rows("llama 70B Q4_0", 40e9, 70e9) + "]";
    const sim::Device h100 = testing::device("h100-sxm");
    const std::vector<calibrate::KernelTable> tables =
        calibrate::kernel_tables_of({calibrate::parse_measured_rows(three, "bench.json")}, h100);
    REQUIRE(tables.size() == 1);
    CHECK(tables[0].kernel == sim::KernelClass::gemm);
    CHECK(tables[0].format == sim::NumberFormat::int4);  // 4.6e9 · 8 / 8e9 = 4.6 bits a weight
    CHECK(tables[0].samples.size() == 9);
    CHECK(tables[0].samples[0].whole_pass);
    const auto fit =
        calibrate::calibrate(tables[0], calibrate::data_sheet_of(h100, sim::KernelClass::gemm, sim::NumberFormat::int4), {});
    REQUIRE(fit);
    CHECK(fit->law.bandwidth_share == Approx(2.5e12 / 3.35e12).epsilon(0.01));
    CHECK(fit->law.startup == Seconds(0.0));
    const std::string one = "[" + llama_rows("llama 8B Q4_0", 4.6e9, 8e9) + "]";
    CHECK(holds(sentence_of([&] {
                    calibrate::require_fittable(
                        calibrate::kernel_tables_of({calibrate::parse_measured_rows(one, "bench.json")}, h100));
                }),
                "bench.json: holds 1 shape of gemm, int4"));
    CHECK(holds(sentence_of([&] {
                    calibrate::kernel_tables_of({calibrate::parse_measured_rows(three, "b.json")}, testing::device("l40s"));
                }),
                "was measured on NVIDIA H100 80GB HBM3, not on l40s"));
}

TEST_CASE("a class that was measured too little is left out, and a sentence names the file that holds it") {
    const sim::Device h100 = testing::device("h100-sxm");
    const std::string large =
        "dtype,m,n,k,latency_us\nbf16,1,16384,8192,100\nbf16,1,16384,16384,190\nbf16,1,32768,16384,370\nbf16,1,65536,16384,"
        "730\n";
    const std::string few =
        "operation,rows,width,dtype,latency_us\nrms_norm,9000,8192,bf16,200\nrms_norm,9000,16384,bf16,390\n";
    const std::vector<calibrate::MeasuredFile> files = {calibrate::parse_measured_rows(large, "h100_gemm.csv"),
                                                        calibrate::parse_measured_rows(few, "h100_element_wise.csv")};
    std::vector<calibrate::KernelTable> tables = calibrate::kernel_tables_of(files, h100);
    REQUIRE(tables.size() == 2);
    const std::string sentence = "h100_element_wise.csv: holds 2 shapes of norm, bf16 within the domain";
    CHECK(holds(sentence_of([&] { calibrate::require_fittable(tables); }), sentence));
    calibrate::KernelFitOptions options;
    options.bootstraps = 0;
    std::vector<std::string> notes;
    const std::vector<calibrate::CalibratedTable> fitted =
        calibrate::fitted_where_possible(std::move(tables), h100, options, notes);
    REQUIRE(fitted.size() == 1);
    CHECK(fitted[0].table.kernel == sim::KernelClass::gemm);
    REQUIRE(notes.size() == 1);
    CHECK(holds(notes[0], sentence));
}

TEST_CASE("a graph pays from where its nodes have saved what starting it costs") {
    const auto chain = [](const char* by, double launches, double all_us) {
        return calibrate::LaunchCost{by, launches, Seconds(1e-6 * all_us / launches)};
    };
    // One by one 3 us and 2 us for each further kernel; as a graph 7 us and 1 us: both take 11 us for five.
    std::vector<calibrate::LaunchCost> launches = {chain("stream", 1.0, 3.0), chain("stream", 100.0, 201.0),
                                                   chain("graph", 1.0, 7.0), chain("graph", 100.0, 106.0)};
    REQUIRE(reports::graph_break_even(launches));
    CHECK(*reports::graph_break_even(launches) == 5.0);
    launches[2] = chain("graph", 1.0, 2.0);
    CHECK(*reports::graph_break_even(launches) == 1.0);
    launches[2] = chain("graph", 1.0, 7.0);
    launches[3] = chain("graph", 100.0, 400.0);
    CHECK_FALSE(reports::graph_break_even(launches));  // its nodes cost more than launches
    CHECK_FALSE(reports::graph_break_even({chain("call", 1.0, 1.0), chain("call", 10.0, 10.0)}));

    calibrate::CalibrationAnswer answer;
    CHECK_FALSE(reports::launch_section(answer));
    answer.launches = {chain("call", 1.0, 0.6), chain("call", 1000.0, 550.0)};
    const std::optional<reports::FigureSection> section = reports::launch_section(answer);
    REQUIRE(section);
    CHECK(holds(section->text, "An empty kernel costs 0.55 us"));
    REQUIRE(section->figures.size() == 1);
    CHECK(section->figures[0].rows.size() == 2);
}

TEST_CASE("own devices go by cpu, cuda and cuda:1") {
    CHECK(calibrate::names_own_device("cpu"));
    CHECK(calibrate::names_own_device("cuda"));
    CHECK(calibrate::names_own_device("cuda:1"));
    CHECK_FALSE(calibrate::names_own_device("h100-sxm"));
    CHECK_FALSE(calibrate::names_own_device("cpu.json"));
}

}  // namespace own_measurements_test
