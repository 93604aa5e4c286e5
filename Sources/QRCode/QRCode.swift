internal import CQREncode

/// A square of dark and light modules that cameras read as text.
package struct QRCode: Sendable {
    /// The number of modules in each row and column.
    package let size: Int
    private let modules: [UInt8]

    /// Returns `nil` if the string is empty or too long.
    package init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
        defer { QRcode_free(code) }
        size = Int(code.pointee.width)
        modules = Array(UnsafeBufferPointer(start: code.pointee.data, count: size * size))
    }

    package func isDark(_ column: Int, _ row: Int) -> Bool {
        // The lowest bit is the colour. The other bits describe the module's purpose.
        modules[row * size + column] & 1 == 1
    }

    /// Returns the dark modules of a row, as ranges of columns.
    package func darkRanges(in row: Int) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for column in 0..<size where isDark(column, row) {
            if let last = ranges.last, last.upperBound == column {
                ranges[ranges.count - 1] = last.lowerBound..<column + 1
            } else {
                ranges.append(column..<column + 1)
            }
        }
        return ranges
    }
}
