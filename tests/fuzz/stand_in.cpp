// Stands in for libFuzzer where the compiler is not Clang: reads every file of a corpus, then a stated number of mutations of
// them, the same ones on every machine. An input that ends the program is left in crash-TARGET, the slowest of those that take
// more than a second of processor time in slow-TARGET.
//
//     treeline_fuzz TARGET RUNS [--seed N] [--seconds N] [--dictionary FILE] FILE|FOLDER...
//
// With --seconds it ends after that time, or after RUNS mutations. scripts/fuzz.sh reads the line that it prints.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "numerics/random.h"
#include "targets.h"

namespace {

using treeline::numerics::Random;

constexpr std::size_t longest = 1u << 16;
constexpr unsigned longest_seconds = 20;  ///< of one input: with sanitizers, on a busy machine
constexpr double slow_seconds = 1.0;      ///< of processor time: such an input is kept

std::string current, left_in;

/// Only what a signal handler may call.
void leave_input(int signal) {
    const int file = ::open(left_in.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        const ssize_t written = ::write(file, current.data(), current.size());
        static_cast<void>(written);
        ::close(file);
    }
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    return text.substr(0, longest);
}

std::vector<std::string> corpus_of(const std::vector<std::string>& places) {
    std::vector<std::filesystem::path> files;
    for (const std::string& place : places) {
        if (std::filesystem::is_directory(place)) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(place)) {
                if (entry.is_regular_file() && entry.path().extension() != ".md") {
                    files.push_back(entry.path());
                }
            }
        } else {
            files.emplace_back(place);
        }
    }
    std::sort(files.begin(), files.end());
    std::vector<std::string> corpus;
    for (const std::filesystem::path& file : files) {
        corpus.push_back(content_of(file));
    }
    return corpus;
}

/// Words in quotes, one a line, with \xNN, \\ and \" as libFuzzer reads them; lines with # are remarks.
std::vector<std::string> words_of(const std::string& file) {
    std::vector<std::string> words;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        const std::size_t first = line.find('"'), last = line.rfind('"');
        if (line.starts_with("#") || first == std::string::npos || last <= first) {
            continue;
        }
        std::string word;
        for (std::size_t i = first + 1; i < last; ++i) {
            if (line[i] == '\\' && i + 3 < last + 1 && line[i + 1] == 'x') {
                word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
                i += 3;
            } else {
                i += line[i] == '\\' ? 1 : 0;
                word += line[i];
            }
        }
        words.push_back(word);
    }
    return words;
}

class Mutator {
public:
    Mutator(const std::vector<std::string>& corpus, const std::vector<std::string>& words, std::uint64_t seed)
        : corpus_(corpus), words_(words), random_(seed) {}

    std::string next() {
        std::string text = corpus_[at(corpus_.size())];
        for (int changes = 1 + random_.below(6); changes > 0; --changes) {
            change(text);
        }
        return text.substr(0, longest);
    }

private:
    std::size_t at(std::size_t size) { return static_cast<std::size_t>(random_.below(static_cast<int>(size))); }

    void change(std::string& text) {
        const std::size_t place = at(text.size() + 1), length = std::min(text.size() - place, at(40));
        switch (random_.below(8)) {
            case 0:
                return void(text.erase(place, length));
            case 1:
                return void(text.insert(place, text.substr(at(text.size() + 1), length)));
            case 2:
                return void(text.insert(place, words_.empty() ? "0" : words_[at(words_.size())]));
            case 3:
                return void(text.replace(place, length, words_.empty() ? "-1" : words_[at(words_.size())]));
            case 4: {
                const std::string& other = corpus_[at(corpus_.size())];
                const std::size_t from = at(other.size() + 1);
                return void(text.insert(place, other.substr(from, at(200))));
            }
            case 5:
                return change_number(text, place);
            case 6:
                return place < text.size() ? void(text[place] = static_cast<char>(random_.below(256))) : void();
            default:
                return place < text.size() ? void(text[place] = static_cast<char>(text[place] ^ (1 << random_.below(8))))
                                           : void();
        }
    }

    /// The next number of the text becomes one that limits are made of.
    void change_number(std::string& text, std::size_t from) {
        static const char* const numbers[] = {"0",   "-1",  "1e308", "1e-308", "2147483648", "9223372036854775808",
                                              "0.5", "1e9", "null",  "[]"};
        const std::size_t first = text.find_first_of("0123456789", from);
        if (first != std::string::npos) {
            const std::size_t last = text.find_first_not_of("0123456789.eE+-", first);
            text.replace(first, last == std::string::npos ? last : last - first, numbers[at(std::size(numbers))]);
        }
    }

    const std::vector<std::string>& corpus_;
    const std::vector<std::string>& words_;
    Random random_;
};

/// What the command line asks for.
struct Asked {
    std::string target, dictionary;
    long runs = 0;
    std::uint64_t seed = 1;
    double seconds = 1e9;
    std::vector<std::string> places;
};

/// Throws std::out_of_range or std::invalid_argument for what is no such command line.
Asked asked_by(const std::vector<std::string>& arguments) {
    Asked asked;
    asked.target = arguments.at(0);
    asked.runs = std::stol(arguments.at(1));
    for (std::size_t i = 2; i < arguments.size(); ++i) {
        if (arguments[i] == "--seed") {
            asked.seed = std::stoull(arguments.at(++i));
        } else if (arguments[i] == "--seconds") {
            asked.seconds = std::stod(arguments.at(++i));
        } else if (arguments[i] == "--dictionary") {
            asked.dictionary = arguments.at(++i);
        } else {
            asked.places.push_back(arguments[i]);
        }
    }
    return asked;
}

double processor_seconds() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// In MB, of this process until now.
long peak_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

}  // namespace

int main(int argc, char** argv) {
    Asked asked;
    try {
        asked = asked_by({argv + 1, argv + argc});
    } catch (const std::logic_error&) {
        std::fputs("usage: treeline_fuzz TARGET RUNS [--seed N] [--seconds N] [--dictionary FILE] FILE|FOLDER...\n", stderr);
        return 2;
    }
    const treeline::fuzz::Target& target = treeline::fuzz::target_named(asked.target);
    left_in = std::string("crash-") + target.name;
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGALRM}) {
        std::signal(signal, leave_input);
    }
    const std::vector<std::string> corpus = corpus_of(asked.places);
    if (corpus.empty()) {
        std::fputs("the corpus is empty\n", stderr);
        return 2;
    }
    const std::vector<std::string> words = words_of(asked.dictionary);
    Mutator mutator(corpus, words, asked.seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(asked.seconds);
    const auto files = static_cast<long>(corpus.size());
    double slowest = 0.0;
    long run = 0;
    for (; run < files + asked.runs && (run < files || std::chrono::steady_clock::now() < end); ++run) {
        current = run < files ? corpus[static_cast<std::size_t>(run)] : mutator.next();
        const double start = processor_seconds();
        ::alarm(longest_seconds);
        treeline::fuzz::answered(target.read, current);
        ::alarm(0);
        const double took = processor_seconds() - start;
        if (took > std::max(slowest, slow_seconds)) {
            std::ofstream(std::string("slow-") + target.name, std::ios::binary) << current;
        }
        slowest = std::max(slowest, took);
    }
    std::printf("%s: %ld files, %ld mutations, the slowest took %.0f ms, peak %ld MB\n", target.name, files, run - files,
                1e3 * slowest, peak_memory());
    return 0;
}
