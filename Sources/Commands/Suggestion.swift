/// Returns the known word that was most likely meant, or `nil` if no word is similar.
package func nearest(_ word: String, of known: [String]) -> String? {
    let limit = word.count < 4 ? 1 : word.count < 9 ? 2 : 3
    let found = known.map { (word: $0, distance: distance(Array(word), Array($0))) }
        .min { $0.distance < $1.distance }
    return found.flatMap { $0.distance <= limit ? $0.word : nil }
}

/// Returns the number of letters to add, remove, replace or swap with a neighbour to get from one word to the other.
private func distance(_ one: [Character], _ other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for (i, letter) in one.enumerated() {
        var row = [i + 1]
        for (j, another) in other.enumerated() {
            var best = min(rows[i][j + 1], row[j]) + 1
            best = min(best, rows[i][j] + (letter == another ? 0 : 1))
            if i > 0, j > 0, letter == other[j - 1], one[i - 1] == another {
                best = min(best, rows[i - 1][j - 1] + 1)
            }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[one.count][other.count]
}
