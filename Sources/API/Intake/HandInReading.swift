import Core
import JSON
import Service

extension Body {
    /// Returns the evidence, in the order of the results.
    func evidence(_ ways: [HandIn]) throws(Problem) -> [RawEvidence] {
        var pieces: [RawEvidence] = []
        for way in ways {
            switch way.form {
            case .text:
                if let text = try optionalText(way.name) { pieces.append(way.piece(text.utf8)) }
            case .texts: pieces += try signed(way.name).map { way.piece($0.utf8) }
            case .objects(let members, let limit):
                pieces += try objects(way.name, of: members, atMost: limit).map {
                    way.piece($0.bytes)
                }
            }
        }
        if pieces.isEmpty {
            let names = ways.filter(\.kind.namesApp).map { "\"\($0.name)\"" }
            throw .missing(
                "receipt",
                "The body contains no evidence; send \(names.dropLast().joined(separator: ", ")) "
                    + "or \(names.last ?? "").")
        }
        return pieces
    }

    private func signed(_ name: String) throws(Problem) -> [String] {
        let signed = try optionalTexts(name) ?? []
        try require(signed.count, in: name, atMost: SubmissionRequest.signedTransactionLimit)
        return signed
    }

    private func require(_ count: Int, in name: String, atMost limit: Int) throws(Problem) {
        if count > limit {
            throw .invalid(
                name,
                "\"\(name)\" may have \(limit) per call but has \(count); send the others in "
                    + "further calls.")
        }
    }

    /// Returns the objects in the array, each with its permitted members in a fixed order.
    private func objects(
        _ name: String, of members: [HandInMember], atMost limit: Int
    ) throws(Problem) -> [JSON] {
        let all = try optionalArray(name) ?? []
        try require(all.count, in: name, atMost: limit)
        var objects: [JSON] = []
        for (index, json) in all.enumerated() {
            let place = "\(name)[\(index)]"
            guard let object = json.object else {
                throw .invalid(place, "\"\(place)\" must be an object, not \(json.typeName).")
            }
            for member in object.members
            where !members.contains(where: { $0.name == member.name }) {
                throw .unknown("member", "\(place).\(member.name)", of: members.map(\.name))
            }
            var proper = JSONObject()
            for member in members {
                guard let text = try member.text(in: object, at: place) else { continue }
                proper.append(member.name, .string(text))
            }
            objects.append(.object(proper))
        }
        return objects
    }
}

extension HandInMember {
    fileprivate func text(in object: JSONObject, at place: String) throws(Problem) -> String? {
        let path = "\(place).\(name)"
        guard let value = object[name], !value.isNull else {
            if isRequired { throw .missing(path) }
            return nil
        }
        guard let text = value.string else {
            throw .invalid(path, "\"\(path)\" must be a string, not \(value.typeName).")
        }
        if let mistake = mistake(text) { throw .invalid(path, "\"\(path)\" \(mistake)") }
        return text
    }
}

extension HandIn {
    fileprivate func piece(_ bytes: some Sequence<UInt8>) -> RawEvidence {
        RawEvidence(kind, Array(bytes))
    }
}
