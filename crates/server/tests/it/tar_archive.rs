//! Tar archives written byte by byte, the hostile ones too, and read back.

/// An archive of these members; a name that ends in a slash is a directory.
pub(crate) fn archive(members: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, content) in members {
        let flag = if name.ends_with('/') { b'5' } else { b'0' };
        bytes.extend(member(name, flag, "", content.as_bytes()));
    }
    bytes.extend([0; 1024]);
    bytes
}

/// One member: a header of 512 bytes and its content, filled up to a multiple of them.
pub(crate) fn member(name: &str, flag: u8, link: &str, content: &[u8]) -> Vec<u8> {
    let mut header = [0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    header[136..147].copy_from_slice(format!("{:011o}", 1_700_000_000).as_bytes());
    header[156] = flag;
    header[157..157 + link.len()].copy_from_slice(link.as_bytes());
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].copy_from_slice(b"        ");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let mut bytes = header.to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().div_ceil(512) * 512, 0);
    bytes
}

/// The names and contents of an archive's members.
pub(crate) fn members(mut bytes: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    while bytes.first().is_some_and(|byte| *byte != 0) {
        let text = |range: std::ops::Range<usize>| {
            let field = bytes[range].split(|byte| *byte == 0).next().unwrap();
            std::str::from_utf8(field).unwrap().trim().to_owned()
        };
        let length = usize::from_str_radix(&text(124..136), 8).unwrap();
        let content = std::str::from_utf8(&bytes[512..512 + length]).unwrap();
        found.push((text(0..100), content.to_owned()));
        bytes = &bytes[512 + length.div_ceil(512) * 512..];
    }
    found
}
