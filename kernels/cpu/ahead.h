// Software prefetching, where the processor's prefetchers do not see what comes next.
#pragma once

#include <cstddef>
#include <vector>

namespace treeline::kernels::cpu {

/// Pieces of rows that lie far apart: x and y of the next head. They are prefetched a few at a time while a state is
/// multiplied; all at once they would delay what follows.
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

/// How far ahead of the current address to prefetch, in bytes: far enough for memory to answer in time.
constexpr int bytes_ahead = 8192;

/// The next address to prefetch. Lines are prefetched one after another, even if several rows are read at a time: the
/// processor's prefetchers follow such a stream, but take rows read in turn for many short ones. Lines go to the second-level
/// cache only; those on their way to the first would hold back whatever is read from the second meanwhile.
class Ahead {
public:
    Ahead(const void* in_hand, RowsAhead& rows) : next_(static_cast<const char*>(in_hand) + bytes_ahead), rows_(rows) {}

    /// Prefetches as many bytes as are read meanwhile, and a piece of a row.
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
