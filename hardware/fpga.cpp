#include "hardware/fpga.h"

#include "hardware/catalogue_files.h"

namespace treeline::hardware {
namespace {

namespace fs = std::filesystem;
using json::Reader;
using sim::fpga::Board;
using sim::fpga::Design;

const CatalogueFolders board_folders = {"fpga"};
const CatalogueFolders design_folders = {"fpga/designs"};

constexpr double most = 1e9;
constexpr double widest_number = 64.0;  ///< bits
constexpr double picojoule = 1e-12, largest_energy = 1e6;

/// A number of the description, or `fallback` where its key is absent.
double ratio_or(Reader& at, std::string_view key, double fallback, double low = 0.0, double high = most) {
    return at.has(key) ? at.ratio(key, low, high) : fallback;
}

/// The same for what must be a whole number.
int whole_or(Reader& at, std::string_view key, int fallback, int low, int high) {
    const double value = ratio_or(at, key, fallback, low, high);
    if (value != static_cast<int>(value)) {
        at.problem(key, "must be a whole number");
    }
    return static_cast<int>(value);
}

double clock_hz(Reader& at, double fallback) {
    constexpr double megahertz = 1e6, slowest = 1.0, fastest = 5000.0;
    return at.has("clock_megahertz") ? megahertz * at.ratio("clock_megahertz", slowest, fastest) : fallback;
}

void read_linear(Reader at, sim::fpga::LinearUnit& unit) {
    unit.tile_inputs = at.ratio("tile_inputs", 0.0, most);
    unit.tile_outputs = at.ratio("tile_outputs", 0.0, most);
    unit.tokens = at.ratio("tokens", 0.0, most);
    unit.initiation_interval = ratio_or(at, "initiation_interval", unit.initiation_interval);
    unit.draft_tile_outputs = ratio_or(at, "draft_tile_outputs", unit.draft_tile_outputs);
    unit.products_per_dsp = ratio_or(at, "products_per_dsp", unit.products_per_dsp);
    unit.activation_bits = ratio_or(at, "activation_bits", unit.activation_bits, 1.0, widest_number);
    at.finish();
}

void read_ssm(Reader at, sim::fpga::SsmUnit& unit) {
    constexpr int deepest = 100'000;
    unit.lanes = at.ratio("lanes", 0.0, most);
    unit.rules.pipeline_depth = whole_or(at, "pipeline_depth", unit.rules.pipeline_depth, 0, deepest);
    unit.rules.interleave = whole_or(at, "interleave", unit.rules.interleave, 0, deepest);
    unit.rules.initiation_interval = whole_or(at, "initiation_interval", unit.rules.initiation_interval, 0, deepest);
    unit.fifo_depth = whole_or(at, "fifo_depth", unit.fifo_depth, 0, deepest);
    unit.dsps_per_lane = ratio_or(at, "dsps_per_lane", unit.dsps_per_lane);
    unit.on_chip_state_bits = ratio_or(at, "on_chip_state_bits", unit.on_chip_state_bits, 1.0, widest_number);
    unit.state_buffers = whole_or(at, "state_buffers", static_cast<int>(unit.state_buffers), 1, 2);
    at.finish();
}

void read_convolution(Reader at, sim::fpga::ConvolutionUnit& unit) {
    unit.lanes = at.ratio("lanes", 0.0, most);
    unit.cycles_per_group = ratio_or(at, "cycles_per_group", unit.cycles_per_group);
    unit.dsps = ratio_or(at, "dsps", unit.dsps);
    at.finish();
}

void read_norm(Reader at, sim::fpga::NormUnit& unit) {
    unit.lanes = at.ratio("lanes", 0.0, most);
    unit.overhead_cycles = ratio_or(at, "overhead_cycles", unit.overhead_cycles);
    unit.dsps = ratio_or(at, "dsps", unit.dsps);
    at.finish();
}

void read_storage(std::optional<Reader> at, sim::fpga::NumberStorage& storage) {
    if (!at) {
        return;
    }
    storage.bits = at->ratio("bits", 0.0, widest_number);
    storage.scale_bits = ratio_or(*at, "scale_bits", 0.0, 0.0, widest_number);
    storage.group = ratio_or(*at, "group", 0.0);
    if (storage.scale_bits > 0.0 && storage.group == 0.0) {
        at->problem("group", "is missing: scale_bits needs the size of a group");
    }
    at->finish();
}

void read_fabric(std::optional<Reader> at, sim::fpga::Fabric& fabric) {
    if (!at) {
        return;
    }
    fabric.fixed.dsps = ratio_or(*at, "dsps", 0.0);
    fabric.fixed.luts = ratio_or(*at, "luts", 0.0);
    fabric.fixed.bram18s = ratio_or(*at, "bram18s", 0.0);
    fabric.fixed.urams = ratio_or(*at, "urams", 0.0);
    fabric.luts_per_multiplier = ratio_or(*at, "luts_per_multiplier", 0.0);
    fabric.luts_per_lane = ratio_or(*at, "luts_per_lane", 0.0);
    fabric.activation_cache_bits = ratio_or(*at, "activation_cache_bits", fabric.activation_cache_bits);
    fabric.activation_cache_on_chip = at->flag_or("activation_cache_on_chip", fabric.activation_cache_on_chip);
    at->finish();
}

void read_power(std::optional<Reader> at, sim::fpga::PowerModel& power) {
    if (!at) {
        return;
    }
    power.per_dsp_cycle = Joules(picojoule * at->ratio("picojoules_per_dsp_cycle", 0.0, largest_energy));
    power.per_product = Joules(picojoule * at->ratio("picojoules_per_product", 0.0, largest_energy));
    at->finish();
}

template <class T, class Read>
json::Described<T> load(const fs::path& file, Read read) {
    json::Document document = json::Document::load(file);
    json::Reader root = document.root();
    T value = read(root, file.stem().string());
    if (document.problems().empty()) {
        document.add_problems(problems_of(value));
    }
    document.throw_if_problems();
    return {std::move(value), document.provenance()};
}

}  // namespace

std::vector<std::string> board_names(const fs::path& catalogue) { return catalogue_names(catalogue, board_folders); }

std::vector<std::string> design_names(const fs::path& catalogue) { return catalogue_names(catalogue, design_folders); }

json::Described<Board> load_board(const fs::path& catalogue, const std::string& name_or_path) {
    return load<Board>(catalogue_file(catalogue, board_folders, "FPGA board", name_or_path), read_board);
}

json::Described<Design> load_design(const fs::path& catalogue, const std::string& name_or_path) {
    return load<Design>(catalogue_file(catalogue, design_folders, "FPGA design", name_or_path), read_design);
}

Board read_board(Reader& reader, std::string name) {
    Board board;
    board.name = std::move(name);
    board.title = reader.text("title");
    board.resources.dsps = reader.ratio("dsps", 0.0, most);
    board.resources.luts = reader.ratio("luts", 0.0, most);
    board.resources.bram18s = 2.0 * reader.ratio("bram36s", 0.0, most);
    board.resources.urams = reader.ratio("urams", 0.0, most);
    board.memory = reader.bytes("memory");
    board.bandwidth = reader.bytes_per_second("memory_bandwidth");
    board.clock_hz = clock_hz(reader, 0.0);
    if (reader.has("static_power")) {
        board.static_power = reader.watts("static_power");
    }
    board.memory_energy = JoulesPerByte(picojoule * ratio_or(reader, "memory_picojoules_per_byte", 0.0, 0.0, largest_energy));
    if (reader.has("price")) {
        board.price = reader.dollars_per_second("price");
    }
    reader.finish();
    return board;
}

Design read_design(Reader& reader, std::string name) {
    Design design;
    design.name = std::move(name);
    design.title = reader.text("title");
    design.board = reader.text("board");
    design.clock_hz = clock_hz(reader, 0.0);
    read_linear(reader.object("linear"), design.linear);
    read_ssm(reader.object("ssm"), design.ssm);
    read_convolution(reader.object("convolution"), design.convolution);
    read_norm(reader.object("norm"), design.norm);
    read_storage(reader.optional_object("weights"), design.weights);
    read_storage(reader.optional_object("state"), design.state);
    design.memory_efficiency = reader.ratio("memory_efficiency", 0.0, 1.0);
    design.exposed_cycles_per_layer = ratio_or(reader, "exposed_cycles_per_layer", 0.0);
    design.lm_head_on_chip = reader.flag_or("lm_head_on_chip", true);
    design.overlap = reader.flag_or("overlap", true);
    read_fabric(reader.optional_object("fabric"), design.fabric);
    read_power(reader.optional_object("power"), design.power);
    reader.finish();
    return design;
}

}  // namespace treeline::hardware
