/// Returns the name that needs the fewest edits to become the text. Among equally near names, the first one counts;
/// `nil` if each name needs more edits than a third of the longer text's length.
///
/// Only the beginnings of long names are compared, because all commands in the batch wait for the result.
package func nearest(to text: String, among names: [String]) -> String? {
    let wanted = text.utf8.prefix(comparedBytes).map(\.self)
    var best: (name: String, distance: Int)?
    for name in names {
        let letters = name.utf8.prefix(comparedBytes).map(\.self)
        let alike = max(wanted.count, letters.count) / 3
        let limit = min(alike, best.map { $0.distance - 1 } ?? alike)
        let distance = distance(wanted, letters, limit: limit)
        if let distance { best = (name, distance) }
    }
    return best?.name
}

private let comparedBytes = 64

/// Returns the number of bytes to add, remove, change or swap with a neighbour to turn one text into the other; `nil`
/// if it exceeds the limit.
private func distance(_ one: [UInt8], _ other: [UInt8], limit: Int) -> Int? {
    if abs(one.count - other.count) > limit { return nil }
    var before: [Int] = []
    var last = Array(0...other.count)
    for (place, byte) in one.enumerated() {
        var row = [place + 1]
        row.reserveCapacity(other.count + 1)
        for (column, letter) in other.enumerated() {
            let change = last[column] + (byte == letter ? 0 : 1)
            var least = min(change, last[column + 1] + 1, row[column] + 1)
            if place > 0, column > 0, byte == other[column - 1], one[place - 1] == letter {
                least = min(least, before[column - 1] + 1)
            }
            row.append(least)
        }
        // A swap refers to the row before the last one, so both rows must exceed the limit.
        if min(row.min() ?? 0, last.min() ?? 0) > limit { return nil }
        (before, last) = (last, row)
    }
    return last[other.count] > limit ? nil : last[other.count]
}
