/// A value of a store's enumeration that this release does not know, as the store wrote it.
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
