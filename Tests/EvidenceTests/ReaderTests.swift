import Core
import Histories
import Minting
import Testing

@testable import Evidence

@Suite("BER")
struct BERTests {
    func read(_ bytes: [UInt8]) throws -> BERElement {
        var reader = BERReader(ByteRange(bytes))
        return try reader.next()
    }

    @Test("Definite and indefinite lengths delimit the same content")
    func lengths() throws {
        let content = [UInt8](repeating: 7, count: 300)
        let octets = ASN1.octets(content)
        let definite = try read(ASN1.element(0x30, octets))
        let indefinite = try read(ASN1.indefinite(0x30, octets))
        #expect(definite.content == 4..<4 + octets.count && definite.hasLength)
        #expect(indefinite.content == 2..<2 + octets.count && !indefinite.hasLength)
        #expect(indefinite.whole == 0..<octets.count + 4)
        let padded = try read([0x04, 0x84, 0, 0, 0, 1, 9])
        #expect(padded.content == 6..<7)
    }

    @Test("Indefinite lengths nest, and end where they should")
    func nested() throws {
        var bytes = ASN1.octets([1, 2, 3])
        for _ in 0..<16 { bytes = ASN1.indefinite(0x30, bytes) }
        #expect(try read(bytes + [9]).whole.count == bytes.count)
        #expect(throws: BERFault.tooDeep) { try read(ASN1.indefinite(0x30, bytes)) }
    }

    @Test(
        "Headers outside the accepted forms are refused",
        arguments: [
            [], [0x30], [0x04, 0x80, 0, 0], [0x00, 0x00], [0x1F, 0x01, 0x00], [0x30, 0x81],
            [0x30, 0x81, 0x01], [0x30, 0x85, 0, 0, 0, 0, 1, 0], [0x30, 0xFF], [0x04, 0x02, 1],
            [0x30, 0x80, 0x00, 0x01, 0x00], [0x30, 0x80, 0x04, 0x01, 1, 0],
            [0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], [0x30, 0x80, 0x04, 0x83, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]])
    func bad(_ bytes: [UInt8]) {
        #expect(throws: BERFault.self) { try read(bytes) }
    }

    @Test("Integers are read with their sign, and only if they fit")
    func integers() throws {
        for value in [0, 1, -1, 127, 128, -128, -129, 1 << 40, Int64.max, Int64.min] {
            var reader = BERReader(ByteRange(ASN1.integer(value)))
            #expect(try reader.integer() == value)
        }
        var long = BERReader(ByteRange([0x02, 9] + [UInt8](repeating: 1, count: 9)))
        #expect(throws: BERFault.malformed) { try long.integer() }
    }

    @Test("A string in pieces is joined, whatever its pieces")
    func pieces() throws {
        let bytes = ASN1.indefinite(
            0x2C,
            ASN1.utf8("ab") + ASN1.octets([99]) + ASN1.element(0x2C, ASN1.utf8("d"))
                + ASN1.indefinite(0x24, ASN1.octets([101])))
        var reader = BERReader(ByteRange(bytes))
        #expect(try reader.string(BERTag.utf8Text).array == Array("abcde".utf8))
        var wrong = BERReader(ByteRange(ASN1.element(0x24, ASN1.integer(1))))
        #expect(throws: BERFault.malformed) { try wrong.string(BERTag.octets) }
    }

    @Test("Random bytes of every kind are refused without harm")
    func rubbish() {
        let seed = printedSeed(of: "rubbish")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let count = Int.random(in: 0..<64, using: &random)
            let bytes = (0..<count).map { _ in
                Bool.random(using: &random)
                    ? [0x30, 0x80, 0x24, 0x00, 0x81, 0x04].randomElement(using: &random) ?? 0
                    : UInt8.random(in: 0...255, using: &random)
            }
            let refusal = refusal(of: [0x30] + bytes, as: .appReceipt)
            #expect(refusal != nil, "seed \(seed)")
        }
    }
}
