import Glibc

/// Overwrites the passwords in this process's arguments with `x`, because every user of the machine can list them. The
/// arguments must be read before this.
func hidePasswords() {
    for place in 0..<Int(CommandLine.argc) {
        guard let argument = CommandLine.unsafeArgv[place] else { continue }
        let bytes = Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
        for range in passwordRanges(in: bytes) {
            for place in range { argument[place] = CChar(UInt8(ascii: "x")) }
        }
    }
}

/// Finds passwords in a connection string in either format, or in an argument that contains one.
func passwordRanges(in text: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    func first(_ sought: String, from start: Int) -> Int? {
        let sought = Array(sought.utf8)
        guard text.count >= start + sought.count else { return nil }
        return (start...(text.count - sought.count)).first {
            text[$0..<($0 + sought.count)].elementsEqual(sought)
        }
    }
    if let scheme = first("://", from: 0), scheme >= 5 {
        // A password may contain an `@`, so the last one marks its end.
        let end = text[(scheme + 3)...].firstIndex { $0 == UInt8(ascii: "/") } ?? text.count
        let authority = (scheme + 3)..<end
        if let at = text[authority].lastIndex(of: UInt8(ascii: "@")),
            let colon = text[authority.lowerBound..<at].firstIndex(of: UInt8(ascii: ":"))
        {
            ranges.append((colon + 1)..<at)
        }
    }
    var start = 0
    while let name = first("password", from: start) {
        var value = name + "password".utf8.count
        start = value
        while value < text.count, text[value] == UInt8(ascii: " ") { value += 1 }
        guard value < text.count, text[value] == UInt8(ascii: "=") else { continue }
        value += 1
        while value < text.count, text[value] == UInt8(ascii: " ") { value += 1 }
        let end = passwordEnd(in: text, from: value)
        ranges.append(value..<end)
        start = end
    }
    return ranges
}

/// Returns the end of the password: the closing quote or the position before the next separator.
private func passwordEnd(in text: [UInt8], from start: Int) -> Int {
    guard start < text.count, text[start] == UInt8(ascii: "'") else {
        let ends = [UInt8(ascii: " "), UInt8(ascii: "&")]
        return text[start...].firstIndex { ends.contains($0) } ?? text.count
    }
    var place = start + 1
    while place < text.count, text[place] != UInt8(ascii: "'") {
        place += text[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(place + 1, text.count)
}
