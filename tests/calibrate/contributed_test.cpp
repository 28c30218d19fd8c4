// Is every folder of contributed measurements (calibrate/measurements) one that can be read, of one machine?
#include <catch2/catch.hpp>

#include <filesystem>

#include "calibrate/tables/kernel_tables.h"
#include "calibrate/tables/measurement_files.h"
#include "calibrate/tables/run_records.h"
#include "hardware/catalogue.h"
#include "source_folder.h"

namespace contributed_test {

using namespace treeline;

namespace fs = std::filesystem;

TEST_CASE("contributed measurements are of one machine, whose tables, description and calibration are read") {
    int folders = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(testing::source_folder() / "calibrate/measurements")) {
        if (!entry.is_directory()) {
            continue;
        }
        ++folders;
        INFO(entry.path());
        const fs::path tables = fs::is_directory(entry.path() / "measurements") ? entry.path() / "measurements" : entry.path();
        const std::optional<calibrate::Machine> machine = calibrate::read_machine(tables);
        REQUIRE(machine);
        CHECK(machine->name == entry.path().filename());
        const std::vector<calibrate::MeasuredFile> files = calibrate::read_measurements(tables);
        CHECK_FALSE(files.empty());
        for (const calibrate::MeasuredFile& file : files) {
            INFO(file.path);
            CHECK(file.device == machine->name);
        }
        const sim::Device device = hardware::load_device({}, (entry.path() / (machine->name + ".json")).string()).value;
        CHECK(device.kind == (machine->is_gpu ? sim::DeviceKind::gpu : sim::DeviceKind::cpu));
        REQUIRE(device.calibration);
        CHECK(device.calibration->kind == "measured");
        CHECK_FALSE(calibrate::kernel_tables_of(files, device).empty());
    }
    CHECK(folders >= 1);
}

}  // namespace contributed_test
