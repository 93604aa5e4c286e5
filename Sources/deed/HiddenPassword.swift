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
    let scheme = first("://", from: 0)
    let beginning = String(decoding: text[..<(scheme ?? 0)], as: UTF8.self)
    let isURL = beginning.hasSuffix("postgresql") || beginning.hasSuffix("postgres")
    if let scheme, scheme >= 5 {
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
        while value < text.count, isSpace(text[value]) { value += 1 }
        guard value < text.count, text[value] == UInt8(ascii: "=") else { continue }
        value += 1
        while value < text.count, isSpace(text[value]) { value += 1 }
        let end = passwordEnd(in: text, from: value, isURL: isURL)
        ranges.append(value..<end)
        start = end
    }
    return ranges
}

/// Returns the end of the password: in a URL the position before the next parameter, otherwise the closing quote or the
/// position before the next space. A backslash makes the character after it part of the password.
private func passwordEnd(in text: [UInt8], from start: Int, isURL: Bool) -> Int {
    if isURL { return text[start...].firstIndex(of: UInt8(ascii: "&")) ?? text.count }
    let isQuoted = start < text.count && text[start] == UInt8(ascii: "'")
    var place = isQuoted ? start + 1 : start
    while place < text.count,
        isQuoted ? text[place] != UInt8(ascii: "'") : !isSpace(text[place])
    {
        place += text[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(isQuoted ? place + 1 : place, text.count)
}

/// Whether libpq takes the character for a space between parameters.
private func isSpace(_ letter: UInt8) -> Bool { letter == 32 || (9...13).contains(letter) }
