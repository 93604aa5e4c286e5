/// Text as a terminal shows it: some letters take two columns, and some none.
extension String {
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The text with blanks behind it, up to so many columns.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - columns))
    }

    /// As much of the text as has room in so many columns, with a mark where something is left out.
    func cut(to width: Int) -> String {
        if columns <= width { return self }
        var (text, taken) = ("", 0)
        for letter in self {
            taken += letter.columns
            if taken > width - 1 { break }
            text.append(letter)
        }
        return text + "…"
    }
}

extension Character {
    fileprivate var columns: Int {
        if unicodeScalars.contains(where: { $0.isEmoji || $0.isWide }) { return 2 }
        return unicodeScalars.allSatisfy(\.isWithoutColumn) ? 0 : 1
    }
}

extension Unicode.Scalar {
    /// A picture, or the sign that makes one of the letter before it.
    fileprivate var isEmoji: Bool { properties.isEmojiPresentation || value == 0xFE0F }

    fileprivate var isWithoutColumn: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }

    /// The scripts of East Asia, and their forms of other letters.
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
            0x17000...0x18DFF, 0x1B000...0x1B2FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
