// Memory asked for before it is needed, where the prefetchers of processors do not see what comes.
#pragma once

#include <cstddef>
#include <vector>

namespace treeline::kernels::cpu {

/// Pieces of rows that lie far apart: those of x and y of the next head. A few are asked for at a time, while a state is
/// multiplied; asked for together they would keep what follows waiting.
class RowsAhead {
public:
    void clear() {
        pieces_.clear();
        next_ = 0;
    }
    void add(const void* piece, std::size_t bytes) { pieces_.push_back({static_cast<const char*>(piece), bytes}); }

    [[gnu::always_inline]] void ask_for_one() {
        if (next_ < pieces_.size()) {
            const Piece& piece = pieces_[next_++];
            for (std::size_t i = 0; i < piece.bytes; i += 64) {
                __builtin_prefetch(piece.begin + i);
            }
        }
    }

private:
    struct Piece {
        const char* begin;
        std::size_t bytes;
    };
    std::vector<Piece> pieces_;
    std::size_t next_ = 0;
};

/// Bytes ahead of the memory in hand that are asked for: far enough for memory to answer meanwhile.
constexpr int bytes_ahead = 8192;

/// Where memory is asked for next. Lines are asked for one after another, even where several rows are read at a time: the
/// prefetchers of processors follow such a stream, and take rows read in turns for many short ones. They come into the second
/// cache only: lines on their way to the first hold back whatever is read from the second meanwhile.
class Ahead {
public:
    Ahead(const void* in_hand, RowsAhead& rows) : next_(static_cast<const char*>(in_hand) + bytes_ahead), rows_(rows) {}

    /// As many bytes as are read meanwhile, and a piece of a row.
    [[gnu::always_inline]] void ask(int bytes) {
        for (int i = 0; i < bytes; i += 64) {
            __builtin_prefetch(next_ + i, 0, 2);
        }
        next_ += bytes;
        rows_.ask_for_one();
    }

private:
    const char* next_;
    RowsAhead& rows_;
};

}  // namespace treeline::kernels::cpu
