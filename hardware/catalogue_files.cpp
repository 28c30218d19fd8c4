#include "hardware/catalogue_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

#include "json/reader.h"
#include "json/wording.h"
#include "text/catalogue_folder.h"

namespace treeline::hardware {

namespace fs = std::filesystem;

std::vector<fs::path> catalogue_files(const fs::path& catalogue, const CatalogueFolders& folders) {
    std::vector<fs::path> files;
    for (const std::string& folder : folders) {
        std::error_code error;
        const std::vector<fs::path> found = text::descriptions_in(catalogue / folder, error);
        files.insert(files.end(), found.begin(), found.end());
        if (error) {
            throw text::InputError({(catalogue / folder).string() + ": cannot be listed (" + error.message() + ")"});
        }
    }
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) { return a.stem() < b.stem(); });
    return files;
}

std::vector<std::string> catalogue_names(const fs::path& catalogue, const CatalogueFolders& folders) {
    std::vector<std::string> names;
    for (const fs::path& file : catalogue_files(catalogue, folders)) {
        names.push_back(file.stem().string());
    }
    return names;
}

namespace {

/// Words of drivers' names that tell no two devices of the catalogue apart.
constexpr std::array<std::string_view, 16> idle_words = {
    "r",    "tm",    "gpu", "graphics", "generation", "gb",          "hbm2",      "hbm2e",
    "hbm3", "hbm3e", "oam", "edition",  "server",     "workstation", "blackwell", "vf"};

/// What drivers call devices in words of their own, as plain names.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> drivers_names = {{{"h10080", "h100sxm"},
                                                                                          {"a10080pcie", "a100pcie80"},
                                                                                          {"b300sxmac", "b300"},
                                                                                          {"gh20096", "gh200"},
                                                                                          {"gh200480", "gh200"},
                                                                                          {"gb10", "dgxspark"},
                                                                                          {"thor", "jetsonagxthor"},
                                                                                          {"prow7900", "w7900"},
                                                                                          {"aipror9700", "r9700"},
                                                                                          {"8060s", "strixhalo"},
                                                                                          {"gfx1151", "strixhalo"},
                                                                                          {"ryzenaimax395", "strixhalo"},
                                                                                          {"ryzenaimaxpro395", "strixhalo"},
                                                                                          {"gfx908", "mi100"}}};

/// Architectures of AMD that rocminfo and llama.cpp print for several devices.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> shared_architectures = {
    {{"gfx906", "the MI50, the MI60 and the Radeon VII"},
     {"gfx90a", "the MI210 and the MI250X"},
     {"gfx942", "the MI300X and the MI325X"},
     {"gfx950", "the MI350X and the MI355X"},
     {"gfx1100", "the RX 7900 XT, the RX 7900 XTX and the W7900"},
     {"gfx1200", "the RX 9060 and the RX 9060 XT"},
     {"gfx1201", "the RX 9070, the RX 9070 XT and the R9700"}}};

/// What drivers put behind a device in brackets: Mesa's "(RADV GFX1151)", "(BMG G21)".
constexpr std::array<std::string_view, 5> remarks_of_drivers = {"(radv ", "(amdvlk", "(nvk", "(bmg ", "(dg2"};

/// The device of "MTL0 (Apple M3 Ultra)" and "Vulkan0: Radeon 8060S (RADV GFX1151)", as llama.cpp lists devices, without what
/// the driver adds; other names as they are.
std::string without_driver(std::string name) {
    std::string small = name;
    std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const std::string_view back_end : {"cuda", "rocm", "vulkan", "mtl", "metal", "sycl", "hip"}) {
        const std::size_t digits = small.starts_with(back_end) ? small.find_first_not_of("0123456789", back_end.size()) : 0;
        if (digits == std::string::npos || digits <= back_end.size()) {
            continue;
        }
        if (small.substr(digits).starts_with(": ")) {
            return without_driver(name.substr(digits + 2));
        }
        if (small.substr(digits).starts_with(" (") && small.ends_with(')')) {
            return without_driver(name.substr(digits + 2, name.size() - digits - 3));
        }
    }
    for (const std::string_view remark : remarks_of_drivers) {
        name = name.substr(0, small.find(remark));
    }
    return name;
}

/// A name without case, marks, makers, the form of its socket and the unit of its memory: "NVIDIA A100-SXM4-80GB" is
/// "a100sxm80".
std::string plain_name(const std::string& name) {
    std::string words = without_driver(name);
    std::transform(words.begin(), words.end(), words.begin(),
                   [](unsigned char c) { return std::isalnum(c) != 0 ? std::tolower(c) : ' '; });
    for (const std::string_view maker :
         {"nvidia", "geforce", "tesla", "quadro", "amd", "radeon", "instinct", "intel", "apple"}) {
        if (const std::size_t at = words.find(maker); at != std::string::npos) {
            words.replace(at, maker.size(), " ");
        }
    }
    std::istringstream each(words);
    std::string plain;
    for (std::string word; each >> word;) {
        if (std::find(idle_words.begin(), idle_words.end(), word) != idle_words.end()) {
            continue;
        }
        if (word.size() == 4 && word.starts_with("sxm") && std::isdigit(static_cast<unsigned char>(word.back())) != 0) {
            word.pop_back();
        }
        plain += word.ends_with("gb") ? word.substr(0, word.size() - 2) : word;
    }
    for (const auto& [driver, ours] : drivers_names) {
        if (plain == driver) {
            return std::string(ours);
        }
    }
    return plain;
}

/// Tenstorrent's cards, by how their plain names begin.
constexpr std::array<std::string_view, 7> tenstorrent = {"p100a", "p150", "n150", "n300", "ttp150", "tenstorrent", "blackhole"};

/// "2x RTX 3090" and "8xH100": how many, and of which; 0 where a name does not begin so.
std::pair<int, std::string> counted(const std::string& name) {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    std::size_t after = name.find_first_not_of(' ', digits);
    const bool times = digits > 0 && digits < 4 && after != std::string::npos && (name[after] == 'x' || name[after] == 'X');
    after = times ? name.find_first_not_of(' ', after + 1) : std::string::npos;
    return after == std::string::npos ? std::pair{0, std::string()}
                                      : std::pair{std::stoi(name.substr(0, digits)), name.substr(after)};
}

/// Why this device is not in the catalogue; empty for any other name.
std::string refused_device(const std::string& name) {
    const std::string plain = plain_name(name);
    for (const auto& [architecture, devices] : shared_architectures) {
        if (plain == architecture) {
            return name + " is the architecture of " + std::string(devices) + ", which differ; name the device";
        }
    }
    const bool refused =
        std::any_of(tenstorrent.begin(), tenstorrent.end(), [&](std::string_view start) { return plain.starts_with(start); });
    return refused ? name +
                         " cannot be priced: its cores pass tiles to each other over a network on the chip, by programs that "
                         "are compiled for each model; peak and bandwidth alone do not price that, and no kernel of it was "
                         "measured"
                   : "";
}

}  // namespace

std::optional<fs::path> file_called(const std::vector<fs::path>& files, const std::string& name) {
    const std::string plain = plain_name(name);
    std::vector<fs::path> alike;
    std::copy_if(files.begin(), files.end(), std::back_inserter(alike),
                 [&](const fs::path& file) { return plain_name(file.stem().string()) == plain; });
    if (alike.size() == 1) {
        return alike.front();
    }
    if (const std::string why = refused_device(name); !why.empty()) {
        throw text::InputError({why});
    }
    return std::nullopt;
}

fs::path catalogue_file(const fs::path& catalogue, const CatalogueFolders& folders, const std::string& what,
                        const std::string& name_or_path, const std::vector<std::string>& also) {
    if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json")) {
        return name_or_path;
    }
    for (const std::string& folder : folders) {  // without listing them: a question reads many descriptions
        if (fs::path named = catalogue / folder / (name_or_path + ".json"); text::is_file(named)) {
            return named;
        }
    }
    const std::vector<fs::path> files = catalogue_files(catalogue, folders);
    if (const std::optional<fs::path> called = file_called(files, name_or_path)) {
        return *called;
    }
    const auto [devices, one] = counted(name_or_path);
    if (devices > 0) {
        if (const std::optional<fs::path> called = file_called(files, one)) {
            throw text::InputError(
                {"\"" + name_or_path + "\" is " + std::to_string(devices) + " devices: give one, \"" + called->stem().string() +
                 "\", and how a model is cut over them, such as --tensor-parallel " + std::to_string(devices)});
        }
    }
    std::vector<std::string> names = catalogue_names(catalogue, folders);
    names.insert(names.end(), also.begin(), also.end());
    throw text::InputError({"there is no " + what + " \"" + name_or_path + "\"" +
                            text::other_names(devices > 0 ? one : name_or_path, names, "treeline hardware") +
                            "; a path to a description (.json) also works"});
}

}  // namespace treeline::hardware
