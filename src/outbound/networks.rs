//! Which IP addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Whether an address is reachable for everybody on the internet, and is not a tunnel to a private one.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !NON_PUBLIC_V4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address) && !NON_PUBLIC_V6.iter().any(|network| network.contains(&address))
        }
    }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(first: u16, second: u16, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), length)
}

/// All networks of IANA's special-purpose registry that are not globally reachable, multicast, and the address at which
/// every machine in Azure reaches its platform: it looks public, and answers from inside.
const NON_PUBLIC_V4: [Ipv4Net; 16] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(168, 63, 129, 16, 32),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 0, 0, 0, 24),
    v4(192, 0, 2, 0, 24),
    v4(192, 88, 99, 0, 24),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v4(198, 51, 100, 0, 24),
    v4(203, 0, 113, 0, 24),
    v4(224, 0, 0, 0, 4),
    v4(240, 0, 0, 0, 4),
];

/// The only part of the IPv6 space that IANA assigns to the public internet.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// Networks within [`GLOBAL_V6`] that are for documentation, or for tunnels that carry an IPv4 address.
const NON_PUBLIC_V6: [Ipv6Net; 4] =
    [v6(0x2001, 0x0db8, 32), v6(0x2001, 0, 23), v6(0x2002, 0, 16), v6(0x3fff, 0, 20)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        let public_addresses = "
            1.1.1.1 93.184.216.34 172.32.0.1 100.128.0.1 168.63.129.15 168.63.129.17 2606:4700:4700::1111
            ::ffff:8.8.8.8
        ";
        for public in public_addresses.split_whitespace() {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        let hidden_addresses = "
            0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.254 168.63.129.16 ::ffff:168.63.129.16
            169.254.169.254 172.16.0.1 172.31.255.255
            192.0.0.8 192.168.1.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1
            ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 100::1 fc00::1 fd00:ec2::254 fe80::1
            fec0::1 ff02::1 2001:db8::1 2001::1 2002:7f00:1::1 3fff::1
        ";
        for hidden in hidden_addresses.split_whitespace() {
            assert!(!is_public(hidden.parse().unwrap()), "{hidden}");
        }
    }
}
