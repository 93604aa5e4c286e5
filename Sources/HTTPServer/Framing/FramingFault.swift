/// Why it is unclear where a request ends or what it means.
package enum FramingFault: Error, Hashable, Sendable, CaseIterable {
    case malformedRequestLine
    case malformedHeader
    case malformedHost
    case malformedLength
    case ambiguousLength
    case malformedChunk
    case lengthTooLarge
    case targetTooLong
    case headTooLarge
    case unknownMethod
    case unknownTransferCoding
    case unknownVersion

    /// The status code of the answer to a request with this fault.
    package var status: Int {
        switch self {
        case .malformedRequestLine, .malformedHeader, .malformedHost, .malformedLength,
            .ambiguousLength, .malformedChunk:
            400
        case .lengthTooLarge: 413
        case .targetTooLong: 414
        case .headTooLarge: 431
        case .unknownMethod, .unknownTransferCoding: 501
        case .unknownVersion: 505
        }
    }
}
