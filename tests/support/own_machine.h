// What tests of measuring a machine of its own share: a folder that goes with the test, and a machine.
#pragma once

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "calibrate/measure/machine.h"

namespace treeline::testing {

struct Folder {
    std::filesystem::path path;
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "treeline-measurements-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { std::filesystem::remove_all(path); }
};

inline calibrate::Machine some_machine() {
    calibrate::Machine machine;
    machine.title = "Some CPU, 2 cores";
    machine.name = "some-cpu-2-cores";
    machine.driver = "Linux";
    machine.memory_bytes = 16e9;
    machine.cache_bytes = 32e6;
    return machine;
}

}  // namespace treeline::testing
