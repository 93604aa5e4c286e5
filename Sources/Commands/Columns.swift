/// Text as a terminal displays it: some characters are two columns wide and some have no width.
/// Terminals disagree about joined emoji. Here, each emoji in a joined sequence counts as one.
extension String {
    package var columns: Int {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return reduce(0) { $0 + $1.columns }
    }

    /// Returns the text, padded with spaces to the given number of columns.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - columns))
    }

    /// Returns as much of the text as fits, with a mark at the end if the text was cut off.
    package func cut(to width: Int) -> String {
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
        isPicture ? 2 : unicodeScalars.reduce(0) { $0 + $1.columns }
    }

    /// Whether the character is an emoji, by itself or because of the character after it.
    private var isPicture: Bool {
        guard let first = unicodeScalars.first?.properties else { return false }
        return first.isEmojiPresentation
            || first.isEmoji && unicodeScalars.contains { $0.value == 0xFE0F }
    }
}

extension Unicode.Scalar {
    fileprivate var columns: Int {
        switch value {
        // A soft hyphen is visible.
        case 0xAD: return 1
        // Korean vowels and final consonants combine with the preceding letter.
        case 0x1160...0x11FF: return 0
        // East Asian scripts, and the wide forms of other characters.
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF,
            0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x17000...0x18DFF,
            0x1B000...0x1B2FF, 0x20000...0x3FFFD:
            return isMark ? 0 : 2
        default: return isMark ? 0 : 1
        }
    }

    private var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: true
        default: false
        }
    }
}
