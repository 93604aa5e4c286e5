/// A value of a store's enumeration, as the store wrote it, that this release does not know.
package enum StoreWord: Hashable, Sendable, CustomStringConvertible {
    case number(Int64)
    case text(String)

    package var description: String {
        switch self {
        case .number(let number): String(number)
        case .text(let text): text
        }
    }
}

extension StoreWord: ExpressibleByIntegerLiteral {
    package init(integerLiteral number: Int64) { self = .number(number) }
}

extension StoreWord: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = .text(text) }
}
