import Crypto
package import JSON
package import Minting

/// The store's keys for Google Play: the service account with which back ends authenticate, and the key for signing
/// push messages.
package struct ServiceAccount: Sendable {
    package let key: MintedKey
    package let keyID: String
    package let email: String
    package let pushKey: MintedKey
    package let pushKeyID: String

    private static let file = "keys/google-service-account.json"
    private static let pushFile = "private/google-push.pem"

    package init() {
        self.init(
            key: MintedKey(.rsa2048), keyID: randomBytes(20).hex,
            email: "deed@practice-\(randomBytes(4).hex).iam.gserviceaccount.com",
            pushKey: MintedKey(.rsa2048))
    }

    private init(key: MintedKey, keyID: String, email: String, pushKey: MintedKey) {
        self.key = key
        self.keyID = keyID
        self.email = email
        self.pushKey = pushKey
        pushKeyID = MintedDigest.sha1.of(pushKey.modulus).hex
    }

    /// Reads the service account from a folder, or creates one and saves it there.
    package init(in folder: DataFolder) throws(PracticeError) {
        guard folder.holds(Self.file), folder.holds(Self.pushFile) else {
            self.init()
            try folder.write(Self.pushFile, pushKey.pem, isSecret: true)
            return
        }
        let kept = try? JSON.read(try folder.bytes(Self.file))
        guard let kept, let key = kept["private_key"]?.string.flatMap(MintedKey.init(pem:)),
            let keyID = kept["private_key_id"]?.string, let email = kept["client_email"]?.string,
            let pushKey = MintedKey(pem: try folder.read(Self.pushFile))
        else {
            throw .broken("\(folder.path)/\(Self.file) cannot be read; start in a new folder")
        }
        self.init(key: key, keyID: keyID, email: email, pushKey: pushKey)
    }

    /// Writes the file that a back end needs, and returns its path. The file contains the store's
    /// address, which may change between starts.
    @discardableResult
    package func write(to folder: DataFolder, port: UInt16) throws(PracticeError) -> String {
        try folder.write(Self.file, json(at: "http://127.0.0.1:\(port)").text, isSecret: true)
        return "\(folder.path)/\(Self.file)"
    }

    /// Returns the file's content, in the format in which Google Cloud issues such keys.
    package func json(at address: String) -> JSON {
        [
            "type": "service_account", "project_id": "deed-practice",
            "private_key_id": .string(keyID), "private_key": .string(key.pem),
            "client_email": .string(email), "client_id": "100000000000000000001",
            "token_uri": .string("\(address)/token"),
            "auth_provider_x509_cert_url": .string("\(address)/oauth2/v3/certs"),
        ]
    }

    /// The public keys for verifying push messages, as a JSON Web Key Set.
    var pushKeys: JSON {
        let one: JSON = [
            "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(pushKeyID),
            "n": .string(pushKey.modulus.base64URL), "e": .string(pushKey.exponent.base64URL),
        ]
        return ["keys": .array([one])]
    }
}
