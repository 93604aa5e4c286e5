/// Finds places by the hashes of what stands there: open addressing in one array, which costs a look-up
/// one wait for memory where a dictionary's costs several.
///
/// It knows no more of what it finds than 32 bits of the hash, so whoever asks compares the rest.
struct PlaceTable {
    /// Of each place the hash's part and the place itself; 0 where there is none.
    private var cells: [UInt64] = []
    private var count = 0

    private var mask: Int { cells.count - 1 }

    /// The place with that hash of which `isWanted` says that it is the one.
    func find(_ hash: Int, where isWanted: (Int) -> Bool) -> Int? {
        if cells.isEmpty { return nil }
        let part = UInt32(truncatingIfNeeded: hash)
        var next = Int(part) & mask
        while cells[next] != 0 {
            let cell = cells[next]
            if cell.part == part, isWanted(cell.place) { return cell.place }
            next = (next + 1) & mask
        }
        return nil
    }

    /// The caller vouches that the place is not there yet.
    mutating func insert(_ place: Int, _ hash: Int) {
        if (count + 1) * 4 > cells.count * 3 { grow() }
        put(UInt64(UInt32(truncatingIfNeeded: hash)) << 32 | UInt64(place + 1))
        count += 1
    }

    mutating func remove(_ place: Int, _ hash: Int) {
        var gap = Int(UInt32(truncatingIfNeeded: hash)) & mask
        while cells[gap].place != place { gap = (gap + 1) & mask }
        // Whatever could not stand where it belongs because of this one moves up.
        var next = (gap + 1) & mask
        while cells[next] != 0 {
            let home = Int(cells[next].part) & mask
            if (next - home) & mask >= (next - gap) & mask {
                cells[gap] = cells[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        cells[gap] = 0
        count -= 1
    }

    private mutating func grow() {
        let old = cells
        cells = [UInt64](repeating: 0, count: max(16, old.count * 2))
        for cell in old where cell != 0 { put(cell) }
    }

    private mutating func put(_ cell: UInt64) {
        var next = Int(cell.part) & mask
        while cells[next] != 0 { next = (next + 1) & mask }
        cells[next] = cell
    }
}

extension UInt64 {
    fileprivate var part: UInt32 { UInt32(truncatingIfNeeded: self >> 32) }
    fileprivate var place: Int { Int(UInt32(truncatingIfNeeded: self)) - 1 }
}
