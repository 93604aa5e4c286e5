internal import COpenSSL

extension MintedKey {
    /// Returns whether `signature` is an RS256 signature by this RSA key.
    package func verifies(rs256 signature: [UInt8], over bytes: [UInt8]) -> Bool {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let isGenuine =
            EVP_DigestVerifyInit(context, nil, MintedDigest.sha256.handle, nil, handle) == 1
            && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
        if !isGenuine { ERR_clear_error() }
        return isGenuine
    }

    /// The modulus of the RSA key, as in JSON Web Key Sets.
    package var modulus: [UInt8] { number("n") }
    package var exponent: [UInt8] { number("e") }

    private func number(_ name: String) -> [UInt8] {
        var found: OpaquePointer?
        guard EVP_PKEY_get_bn_param(handle, name, &found) == 1, let found else {
            preconditionFailure("only RSA keys have the number \(name)")
        }
        defer { BN_free(found) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(found) + 7) / 8)
        BN_bn2bin(found, &bytes)
        return bytes
    }
}
