use serde_json::json;

use super::default_colours;
use crate::{GridSize, Palette, RejectionCode, Report, check};

/// A file in the making.
struct TestVox(Vec<u8>);

/// An axis of a model that goes the other way.
const MIRRORED: u8 = 1 << 4;

impl TestVox {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn chunk(mut self, id: &str, content: &[u8]) -> Self {
        self.0.extend(id.as_bytes());
        self.0.extend((content.len() as u32).to_le_bytes());
        self.0.extend([0; 4]);
        self.0.extend(content);
        self
    }

    fn model(self, size: [i32; 3], voxels: &[[u8; 4]]) -> Self {
        let content = [&(voxels.len() as u32).to_le_bytes(), voxels.as_flattened()].concat();
        self.chunk("SIZE", &ints(&size)).chunk("XYZI", &content)
    }

    fn transform(
        self,
        id: i32,
        child: i32,
        layer: i32,
        about: &[(&str, &str)],
        frame: &[(&str, &str)],
    ) -> Self {
        let frame = dictionary(frame);
        self.chunk("nTRN", &[ints(&[id]), dictionary(about), ints(&[child, -1, layer, 1]), frame].concat())
    }

    fn placed(self, id: i32, child: i32, frame: &[(&str, &str)]) -> Self {
        self.transform(id, child, -1, &[], frame)
    }

    fn group(self, id: i32, children: &[i32]) -> Self {
        self.chunk("nGRP", &[ints(&[id, 0, children.len() as i32]), ints(children)].concat())
    }

    fn shape(self, id: i32, model: i32) -> Self {
        self.chunk("nSHP", &ints(&[id, 0, 1, model, 0]))
    }

    fn bytes(self) -> Vec<u8> {
        let mut file = b"VOX \x96\0\0\0MAIN\0\0\0\0".to_vec();
        file.extend((self.0.len() as u32).to_le_bytes());
        file.extend(self.0);
        file
    }

    fn rejection(self) -> (RejectionCode, String) {
        let verdict = check(&self.bytes(), GridSize::G32, Palette::Simple, 64 << 20);
        let rejection = verdict.rejection().unwrap();
        (rejection.code, rejection.message.clone())
    }

    /// Its cells by x, y and z, whatever blocks they are.
    fn cells(self) -> Vec<[u64; 3]> {
        let verdict = check(&self.bytes(), GridSize::G32, Palette::Simple, 1 << 20);
        assert!(verdict.grid().is_some(), "{:?}", verdict.rejection());
        let report = Report::new(&verdict, GridSize::G32, Palette::Simple, true);
        let report = serde_json::to_value(report).unwrap();
        let cells = report["cells"].as_array().unwrap().iter();
        cells.map(|cell| [0, 1, 2].map(|axis| cell[axis].as_u64().unwrap())).collect()
    }
}

fn ints(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn dictionary(entries: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [ints(&[text.len() as i32]), text.as_bytes().to_vec()].concat();
    let entries: Vec<_> = entries.iter().flat_map(|(key, value)| [text(key), text(value)]).collect();
    [ints(&[entries.len() as i32 / 2]), entries.concat()].concat()
}

/// Three voxels in a row, and one beside the last.
fn hook() -> TestVox {
    TestVox::new().model([3, 2, 1], &[[0, 0, 0, 1], [1, 0, 0, 1], [2, 0, 0, 1], [2, 1, 0, 1]])
}

#[test]
fn a_file_without_a_scene_is_its_first_model_where_it_is() {
    let file = hook().model([1, 1, 1], &[[0, 0, 0, 9]]);
    assert_eq!(file.cells(), [[2, 0, 30], [0, 0, 31], [1, 0, 31], [2, 0, 31]]);
}

#[test]
fn the_colour_0_is_none() {
    let file = TestVox::new().model([2, 1, 1], &[[0, 0, 0, 0], [1, 0, 0, 1]]);
    assert_eq!(file.cells(), [[1, 0, 31]]);
}

/// The middle of the hook is its second voxel's lower corner, at (1, 1, 0).
#[test]
fn models_are_turned_around_their_middle_and_mirrored() {
    for (turn, cells) in [
        (0b0000100, [[10, 5, 10], [8, 5, 11], [9, 5, 11], [10, 5, 11]]),
        // Mirrored along x.
        (0b0000100 | MIRRORED, [[7, 5, 10], [7, 5, 11], [8, 5, 11], [9, 5, 11]]),
        // Its x leads along y, and its y along x.
        (0b0000001, [[9, 5, 9], [8, 5, 9], [8, 5, 10], [8, 5, 11]]),
        // Its z leads along x, its x along y, its y upwards.
        (0b0000010, [[9, 4, 11], [9, 4, 10], [9, 4, 9], [9, 5, 9]]),
    ] {
        let turn = turn.to_string();
        let file = hook()
            .placed(0, 1, &[])
            .group(1, &[2])
            .placed(2, 3, &[("_r", &turn), ("_t", "9 21 5")])
            .shape(3, 0);
        let mut cells = cells.to_vec();
        cells.sort_by_key(|[x, y, z]| [*y, *z, *x]);
        assert_eq!(file.cells(), cells, "{turn}");
    }
}

#[test]
fn transforms_follow_each_other_and_a_model_may_stand_in_two_places() {
    let file = TestVox::new()
        .model([1, 1, 1], &[[0, 0, 0, 1]])
        .placed(0, 1, &[("_t", "10 10 0")])
        .group(1, &[2, 4])
        .placed(2, 3, &[("_r", &(0b0000001 | 1 << 4).to_string()), ("_t", "1 0 0")])
        .placed(3, 5, &[("_t", "3 4 2")])
        .placed(4, 5, &[("_t", "0 0 7")])
        .shape(5, 0);
    // (3, 4, 2) turned is (-4, 3, 2), and the voxel itself turns over its corner.
    assert_eq!(file.cells(), [[6, 2, 18], [10, 7, 21]]);
}

#[test]
fn what_is_hidden_is_not_taken() {
    let file = TestVox::new()
        .model([1, 1, 1], &[[0, 0, 0, 1]])
        .chunk("LAYR", &[ints(&[3]), dictionary(&[("_hidden", "1")]), ints(&[-1])].concat())
        .placed(0, 1, &[])
        .group(1, &[2, 3, 4])
        .transform(2, 5, 3, &[], &[("_t", "1 1 1")])
        .transform(3, 5, 0, &[("_hidden", "1")], &[("_t", "2 2 2")])
        .transform(4, 5, 0, &[("_hidden", "0")], &[("_t", "3 3 3")])
        .shape(5, 0);
    assert_eq!(file.cells(), [[3, 3, 28]]);
}

#[test]
fn colours_are_replaced_by_what_looks_like_them() {
    let mut colours = vec![0; 1024];
    colours[4..8].copy_from_slice(&[250, 250, 245, 255]);
    for (file, colour) in [(hook().chunk("RGBA", &colours), "#000000"), (hook(), "#ffffff")] {
        let verdict = check(&file.bytes(), GridSize::G32, Palette::Simple, 1 << 20);
        let block = if colour == "#ffffff" { "white_wool" } else { "black_wool" };
        let message = format!("{colour} is not in the palette: 4 blocks were replaced with {block}");
        let expected = json!([{ "code": "replaced_block", "type": colour, "count": 4, "message": message }]);
        assert_eq!(serde_json::to_value(verdict.warnings()).unwrap(), expected);
    }
}

#[test]
fn bad_files_are_refused_with_a_reason() {
    let model = || TestVox::new().model([1, 1, 1], &[[0, 0, 0, 1]]);
    let mut many = TestVox::new();
    for _ in 0..4097 {
        many = many.model([1, 1, 1], &[[0, 0, 0, 1]]);
    }
    let deep = (0..100).fold(model(), |file, id| file.placed(id, id + 1, &[]));
    let wide = (0..9).fold(model(), |file, id| file.group(id, &[id + 1; 10])).shape(9, 0);
    let all = model().placed(0, 1, &[]).group(1, &[2; 4097]).shape(2, 0);
    for (file, told) in [
        (model().chunk("SIZE", &ints(&[1])), "its SIZE chunk is incomplete or malformed"),
        (model().chunk("RGBA", &[0; 1023]), "its RGBA chunk is incomplete or malformed"),
        (model().chunk("XYZI", &[0; 4]), "a model has no size"),
        (model().model([1, 1, 257], &[]), "a model is 257 voxels wide, but at most 256 are allowed"),
        (model().model([-1, 1, 1], &[]), "a model is 4294967295 voxels wide, but at most 256 are allowed"),
        (model().model([1, 1, 1], &[[0, 1, 0, 1]]), "a voxel is outside its model"),
        (many, "it has more than 4096 models"),
        (model().placed(0, 0, &[]), "its scene is nested more than 64 levels deep or contains itself"),
        (deep, "its scene is nested more than 64 levels deep or contains itself"),
        (wide, "its scene shows models in more than 4096 places"),
        (all, "its scene shows models in more than 4096 places"),
        (model().group(0, &[0; 70_000]), "its scene visits its nodes more than 65536 times"),
        (model().placed(0, 7, &[]), "its scene refers to node 7, which does not exist"),
        (model().placed(1, 0, &[]), "its scene refers to node 0, which does not exist"),
        (model().placed(0, 1, &[]).shape(1, 1), "its scene shows model 1, which does not exist"),
        (model().placed(0, 1, &[("_r", "15")]), "its nTRN chunk is incomplete or malformed"),
        (model().placed(0, 1, &[("_t", "1 2")]), "its nTRN chunk is incomplete or malformed"),
        (model().placed(0, 1, &[("_t", "1 2 99999999999")]), "its nTRN chunk is incomplete or malformed"),
        (model().chunk("nGRP", &ints(&[0, 0, -1])), "its nGRP chunk is incomplete or malformed"),
        (model().chunk("nTRN", &ints(&[0, -1])), "its nTRN chunk is incomplete or malformed"),
    ] {
        assert_eq!(file.rejection(), (RejectionCode::BadFile, format!("the file cannot be read: {told}")));
    }
}

#[test]
fn far_apart_models_do_not_fit_and_too_many_voxels_are_not_walked_over() {
    let apart = TestVox::new()
        .model([1, 1, 1], &[[0, 0, 0, 1]])
        .placed(0, 1, &[])
        .group(1, &[2, 3])
        .placed(2, 4, &[("_t", "-2147483648 0 0")])
        .placed(3, 4, &[("_t", "2147483647 0 0")])
        .shape(4, 0);
    let (code, message) = apart.rejection();
    assert_eq!(code, RejectionCode::DoesNotFit);
    assert!(message.contains("4294967296 wide, 1 high and 1 deep"), "{message}");

    let solid = vec![[0, 0, 0, 1]; 1 << 20];
    // A model is read once, whatever it holds; what it stands in besides is what a grid can be drawn with.
    for (times, told) in [
        (1, "the file has more than 262144 blocks (8 times the cells of a 32³ grid)"),
        (2, "the file has 2097152 cells, but at most 1114112 are allowed"),
        (200, "the file has 2097152 cells, but at most 1114112 are allowed"),
    ] {
        let file =
            TestVox::new().model([1, 1, 1], &solid).placed(0, 1, &[]).group(1, &vec![2; times]).shape(2, 0);
        assert_eq!(file.rejection(), (RejectionCode::TooMuchWork, told.to_owned()), "{times}");
    }
    let empty = vec![[0; 4]; 1 << 20];
    let file = TestVox::new().model([1, 1, 1], &empty).placed(0, 1, &[]).group(1, &[2; 2]).shape(2, 0);
    assert_eq!(file.rejection().0, RejectionCode::TooMuchWork);
}

#[test]
fn the_usual_colours_are_the_published_ones() {
    let colours = default_colours();
    assert_eq!(colours.len(), 255);
    for (number, colour) in [
        (1, [255, 255, 255]),
        (2, [255, 255, 204]),
        (7, [255, 204, 255]),
        (215, [0, 0, 51]),
        (216, [238, 0, 0]),
        (246, [238, 238, 238]),
        (255, [17, 17, 17]),
    ] {
        assert_eq!(colours[number - 1], colour, "{number}");
    }
}
