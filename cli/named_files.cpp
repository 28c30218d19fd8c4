#include "cli/named_files.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/common_flags.h"
#include "text/file_roles.h"
#include "text/input_error.h"

namespace treeline::cli {
namespace {

namespace fs = std::filesystem;

struct NamedFile {
    std::string flag;  ///< "--output"; empty of an argument
    fs::path path;
};

struct NamedFiles {
    std::vector<NamedFile> written, stores;
    std::vector<fs::path> others;  ///< whatever else is given: what is no file is none that is read
};

void add_files(const CLI::App& app, NamedFiles& files) {
    for (const CLI::Option* option : app.get_options()) {
        const std::vector<std::string>& names = option->get_lnames();
        const std::string flag = names.empty() ? "" : "--" + names.front();
        for (const std::string& value : option->count() > 0 ? option->results() : std::vector<std::string>()) {
            if (value.empty() || value == "-") {
                continue;
            }
            if (flag == "--store" || option->get_type_name() == written_file) {
                (flag == "--store" ? files.stores : files.written).push_back({flag, value});
            } else if (option->get_name() != "NAME") {  // of the catalogue
                files.others.emplace_back(value);
            }
        }
    }
    for (const CLI::App* sub : app.get_subcommands()) {
        add_files(*sub, files);
    }
}

/// A file under one name, whether it is there or not.
fs::path whole_name(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
    return error ? path : whole;
}

/// A pipe or device takes whatever comes.
bool is_special(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return fs::exists(status) && !fs::is_regular_file(status);
}

void refuse_same(const std::vector<NamedFile>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (whole_name(files[i].path) == whole_name(files[j].path) && !is_special(files[i].path)) {
                throw text::InputError({fmt::format("{} and {} both name {}; name another file for one of them", files[j].flag,
                                                    files[i].flag, files[i].path.string())});
            }
        }
    }
}

/// Stores that the command is yet to make; those that exist know it themselves (text::loss_of_replacing).
void refuse_names_beside(const std::vector<NamedFile>& stores, const std::vector<NamedFile>& written) {
    for (const NamedFile& store : stores) {
        for (const NamedFile& file : written) {
            if (text::database_beside(file.path.lexically_normal()) == store.path) {
                throw text::InputError({fmt::format("{} is a name that SQLite uses beside {}; name another file for the output",
                                                    file.path.string(), store.path.string())});
            }
        }
    }
}

}  // namespace

void refuse_clashing_files(const CLI::App& app) {
    NamedFiles files;
    add_files(app, files);
    for (const NamedFile& store : files.stores) {
        files.others.push_back(store.path);
    }
    for (const fs::path& path : files.written.empty() ? std::vector<fs::path>() : files.others) {
        text::note_input(path);
    }
    for (const NamedFile& file : files.written) {
        text::refuse_loss(file.path, file.path.string());
    }
    refuse_names_beside(files.stores, files.written);
    files.written.insert(files.written.end(), files.stores.begin(), files.stores.end());
    refuse_same(files.written);
}

}  // namespace treeline::cli
