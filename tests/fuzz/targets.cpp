#include "targets.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

#include "source_folder.h"
#include "text/input_error.h"

namespace treeline::fuzz {
namespace {

/// A folder of this process, removed at its end.
class Scratch {
public:
    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "treeline-fuzz-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("no temporary folder can be made");
        }
        folder_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    std::filesystem::path folder_;
};

}  // namespace

const Target& target_named(std::string_view name) {
    for (const auto& some :
         {text_targets(), description_targets(), request_targets(), measurement_targets(), evaluator_targets()}) {
        for (const Target& target : some) {
            if (target.name == name) {
                return target;
            }
        }
    }
    throw std::invalid_argument("there is no target \"" + std::string(name) + "\"");
}

const requests::Catalogue& catalogue() {
    static const requests::Catalogue found{testing::source_folder() / "models", testing::source_folder() / "hardware"};
    return found;
}

std::string as_file(std::string_view bytes, const std::string& name) {
    static const Scratch scratch;
    const std::filesystem::path path = scratch.folder() / name;
    std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path.string();
}

void answered(void (*read)(std::string_view), std::string_view bytes) {
    try {
        read(bytes);
    } catch (const text::InputError& error) {
        if (error.problems().empty() || error.problems().front().empty()) {
            throw std::logic_error("a refusal without a sentence");
        }
    }
}

}  // namespace treeline::fuzz

/// What libFuzzer calls; TREELINE_FUZZ_TARGET names the target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const treeline::fuzz::Target& target = [&]() -> const treeline::fuzz::Target& {
        const char* name = std::getenv("TREELINE_FUZZ_TARGET");
        return treeline::fuzz::target_named(name != nullptr ? name : "");
    }();
    treeline::fuzz::answered(target.read, {reinterpret_cast<const char*>(data), size});
    return 0;
}
