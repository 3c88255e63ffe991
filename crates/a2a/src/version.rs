//! The two versions of the protocol.

use std::fmt;

/// A version whose shapes this library reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtocolVersion {
    V0_3,
    V1_0,
}

/// What a peer says about the version that it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionClaim {
    /// It says nothing, so that the method's name decides.
    Absent,
    Known(ProtocolVersion),
    Unknown,
}

impl ProtocolVersion {
    pub const ALL: [Self; 2] = [Self::V1_0, Self::V0_3];

    /// As the header `A2A-Version` and an interface's `protocolVersion` spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V0_3 => "0.3",
            Self::V1_0 => "1.0",
        }
    }

    /// The version that a card offers. Agents of 0.2 understand what clients of 0.3 send.
    pub fn offered(text: &str) -> Option<Self> {
        match major_minor(text)? {
            (0, 2 | 3) => Some(Self::V0_3),
            (1, _) => Some(Self::V1_0),
            _ => None,
        }
    }
}

impl VersionClaim {
    /// Reads the header `A2A-Version`. The number of a patch does not matter.
    pub fn parse(header: Option<&str>) -> Self {
        let Some(text) = header.map(str::trim).filter(|text| !text.is_empty()) else { return Self::Absent };
        match major_minor(text) {
            Some((0, 3)) => Self::Known(ProtocolVersion::V0_3),
            Some((1, 0)) => Self::Known(ProtocolVersion::V1_0),
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The first two numbers of a version. What follows them must be numbers as well.
fn major_minor(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().split('.').map(|part| part.parse::<u32>().ok());
    let (major, minor) = (numbers.next()??, numbers.next().unwrap_or(Some(0))?);
    numbers.all(|number| number.is_some()).then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_number_does_not_matter_and_an_absent_version_fits_both() {
        let cases = [
            (None, VersionClaim::Absent),
            (Some("  "), VersionClaim::Absent),
            (Some("0.3"), VersionClaim::Known(ProtocolVersion::V0_3)),
            (Some("0.3.26"), VersionClaim::Known(ProtocolVersion::V0_3)),
            (Some("1.0"), VersionClaim::Known(ProtocolVersion::V1_0)),
            (Some("1"), VersionClaim::Known(ProtocolVersion::V1_0)),
            (Some(" 1.0.4 "), VersionClaim::Known(ProtocolVersion::V1_0)),
            (Some("0.2"), VersionClaim::Unknown),
            (Some("1.1"), VersionClaim::Unknown),
            (Some("2.0"), VersionClaim::Unknown),
            (Some("1.0-beta"), VersionClaim::Unknown),
            (Some("latest"), VersionClaim::Unknown),
        ];
        for (header, claim) in cases {
            assert_eq!(VersionClaim::parse(header), claim, "{header:?}");
        }
    }

    #[test]
    fn agents_of_0_2_are_spoken_to_as_0_3() {
        for text in ["0.2", "0.2.5", "0.3.0"] {
            assert_eq!(ProtocolVersion::offered(text), Some(ProtocolVersion::V0_3), "{text}");
        }
        assert_eq!(ProtocolVersion::offered("1.2.0"), Some(ProtocolVersion::V1_0));
        assert_eq!(ProtocolVersion::offered("0.1"), None);
    }
}
