package import Core
import JSON

extension CatalogFile {
    /// Reads only the parts of a catalog's canonical form that concern customers who bought these
    /// products and nothing else. This is much faster than reading all of a large catalog. Returns
    /// `nil` if the bytes are not in that form.
    package static func excerpt(of content: [UInt8], for keys: Set<ProductKey>) -> Catalog? {
        let wanted = Set(keys.map { JSON.string($0.id.text).bytes })
        let (opening, naming) = (Array("{\"products\":[".utf8), Array("{\"id\":".utf8))
        if !content.starts(with: opening) { return nil }
        var bytes = opening
        var place = opening.count
        while place < content.count, content[place] == UInt8(ascii: "{") {
            guard content[place...].starts(with: naming),
                let next = end(ofObjectAt: place, in: content.span),
                let idEnd = end(ofTextAt: place + naming.count, in: content.span)
            else { return nil }
            if wanted.contains(Array(content[place + naming.count..<idEnd])) {
                if bytes.count > opening.count { bytes.append(UInt8(ascii: ",")) }
                bytes += content[place..<next]
            }
            place = next
            if place < content.count, content[place] == UInt8(ascii: ",") { place += 1 }
        }
        bytes += content[place...]
        return (try? JSON.read(bytes)).flatMap { try? recorded($0) }
    }

    /// Returns the index after the object that begins at `start`.
    private static func end(ofObjectAt start: Int, in content: Span<UInt8>) -> Int? {
        var (place, depth) = (start, 0)
        while place < content.count {
            switch content[place] {
            case UInt8(ascii: "\""):
                guard let next = end(ofTextAt: place, in: content) else { return nil }
                place = next
                continue
            case UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                if depth == 0 { return place + 1 }
            default: break
            }
            place += 1
        }
        return nil
    }

    /// Returns the index after the quoted text that begins at `start`.
    private static func end(ofTextAt start: Int, in content: Span<UInt8>) -> Int? {
        var place = start + 1
        while place < content.count {
            switch content[place] {
            case UInt8(ascii: "\""): return place + 1
            case UInt8(ascii: "\\"): place += 2
            default: place += 1
            }
        }
        return nil
    }
}
