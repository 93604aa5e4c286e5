import Core

/// Ready answers by the hashes of their streams: open addressing in one array. Whoever reads one of a
/// million answers waits for memory twice, for the cell and for the answer, and a third time for a
/// customer's name of more than 15 bytes.
struct AnswerTable {
    struct Cell {
        /// Of the hash: most others are told apart by it.
        fileprivate var part: UInt32 = 0
        /// Of the answer's project, as the partition numbers them.
        fileprivate(set) var project: Int32 = 0
        var isUsed = false
        /// When the database was asked, on the monotonic clock.
        fileprivate(set) var confirmedAt: Int64 = 0
        fileprivate(set) var answer: ReadyAnswer?
    }
    private(set) var count = 0
    private var cells: [Cell] = []

    /// Bytes that an answer takes here, roughly: a table that grows by doubling is half empty.
    static var weight: Int { 2 * MemoryLayout<Cell>.stride }

    var places: Range<Int> { cells.indices }

    private var mask: Int { cells.count - 1 }

    subscript(place: Int) -> Cell {
        get { cells[place] }
        _modify { yield &cells[place] }
    }

    /// Where the stream's answer is.
    func place(of stream: Stream, _ hash: Int) -> Int? {
        if cells.isEmpty { return nil }
        let part = UInt32(truncatingIfNeeded: hash)
        var next = Int(part) & mask
        while cells[next].answer != nil {
            // Looked into only then: each look is a wait for memory.
            if cells[next].part == part, cells[next].answer?.isAbout(stream) == true {
                return next
            }
            next = (next + 1) & mask
        }
        return nil
    }

    /// The caller vouches that the stream has none yet.
    mutating func insert(
        _ answer: ReadyAnswer, _ hash: Int, project: Int32 = 0, confirmedAt: Int64 = 0
    ) {
        if (count + 1) * 4 > cells.count * 3 { grow() }
        put(
            Cell(
                part: UInt32(truncatingIfNeeded: hash), project: project,
                confirmedAt: confirmedAt, answer: answer))
        count += 1
    }

    /// Puts another answer of the same stream in place of the one there.
    mutating func replace(_ place: Int, by answer: ReadyAnswer, confirmedAt: Int64) {
        cells[place].answer = answer
        cells[place].confirmedAt = confirmedAt
        cells[place].isUsed = false
    }

    mutating func remove(_ place: Int) {
        var gap = place
        // Whatever could not stand where it belongs because of this one moves up.
        var next = (gap + 1) & mask
        while cells[next].answer != nil {
            let home = Int(cells[next].part) & mask
            if (next - home) & mask >= (next - gap) & mask {
                cells.swapAt(gap, next)
                gap = next
            }
            next = (next + 1) & mask
        }
        cells[gap] = Cell()
        count -= 1
    }

    private mutating func grow() {
        var old = [Cell](repeating: Cell(), count: max(16, cells.count * 2))
        swap(&old, &cells)
        for place in old.indices where old[place].answer != nil {
            // Moved, so that no answer is touched: each would be a wait for memory.
            var cell = Cell()
            swap(&cell, &old[place])
            put(cell)
        }
    }

    private mutating func put(_ cell: consuming Cell) {
        var next = Int(cell.part) & mask
        while cells[next].answer != nil { next = (next + 1) & mask }
        cells[next] = cell
    }
}
