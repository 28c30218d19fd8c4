// Does a folder that the program carries list and open like one on the disk?
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "source_folder.h"
#include "text/catalogue_folder.h"
#include "text/input_error.h"
#include "text/input_file.h"

namespace treeline::text::catalogue_folder_test {
namespace {

namespace fs = std::filesystem;
const fs::path carried = builtin_folder;

/// Paths below `root`, as those of one root and another can be compared.
std::vector<std::string> relative_to(const fs::path& root, const std::vector<fs::path>& files) {
    std::vector<std::string> names;
    for (const fs::path& file : files) {
        names.push_back(file.lexically_relative(root).generic_string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

TEST_CASE("an archive is an index of sizes and names, and the bytes in that order") {
    const std::vector<std::pair<std::string_view, std::string_view>> files = files_of_archive("3 a/b.json\n0 empty\n\nxyz");
    CHECK(files == std::vector<std::pair<std::string_view, std::string_view>>{{"a/b.json", "xyz"}, {"empty", ""}});
    CHECK(files_of_archive("\n").empty());
    for (const char* damaged : {"", "3 a\n", "4 a\n\nxyz", "a 3\n\nxyz", "3\n\nxyz", "3a\n\nxyz"}) {
        CHECK_THROWS_AS(files_of_archive(damaged), std::invalid_argument);
    }
}

TEST_CASE("what the program carries is what the source folder holds, byte for byte") {
    REQUIRE(has_builtin_files());
    const fs::path& source = testing::source_folder();
    for (const char* folder : {"models", "hardware", "examples", "calibrate/published"}) {
        std::vector<fs::path> on_disk = files_below(source / folder);
        std::erase_if(on_disk, [](const fs::path& file) { return file.extension() != ".json" && file.extension() != ".csv"; });
        const std::vector<fs::path> in_program = files_below(carried / folder);
        CHECK(relative_to(carried, in_program) == relative_to(source, on_disk));
        for (const fs::path& file : in_program) {
            REQUIRE(read_file(file) == read_file(source / file.lexically_relative(carried)));
        }
    }
    CHECK(is_file(carried / "validation/serving/names.json"));
}

TEST_CASE("a folder lists what lies right in it, on the disk as in the program") {
    std::error_code error;
    for (const char* folder : {"models", "models/drafters", "hardware/gpu", "examples"}) {
        const fs::path on_disk = testing::source_folder() / folder;
        CHECK(relative_to(carried / folder, descriptions_in(carried / folder, error)) ==
              relative_to(on_disk, descriptions_in(on_disk, error)));
        CHECK(description_names(carried / folder, error) == description_names(on_disk, error));
    }
    CHECK_FALSE(error);
    const std::vector<std::string> models = description_names(carried / "models", error);
    CHECK(std::binary_search(models.begin(), models.end(), "llama-3.1-8b"));
    CHECK(descriptions_in(testing::source_folder() / "nowhere", error).empty());
    CHECK(error == std::errc::no_such_file_or_directory);
}

TEST_CASE("paths in the program are folders, files or neither, also along a way up") {
    CHECK(is_folder(carried / "models"));
    CHECK(is_folder(carried / "models" / ""));
    CHECK_FALSE(is_folder(carried / "mod"));
    CHECK_FALSE(is_folder(carried / "models" / "llama-3.1-8b.json"));
    CHECK(is_file(carried / "calibrate" / "published" / ".." / ".." / "models" / "llama-3.1-8b.json"));
    CHECK_FALSE(is_file(carried / "models"));
    CHECK_FALSE(is_file(carried / ".." / "models" / "llama-3.1-8b.json"));
    CHECK_THROWS_AS(read_file(carried / "models" / "no-such-model.json"), InputError);
}

}  // namespace treeline::text::catalogue_folder_test
