//! Mistakes that are far apart in a flow with many checks are all reported.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
}

#[node(Essay)]
async fn first(#[item] part: &str) {
    let _ = part;
}

#[node(Essay)]
async fn second(#[item] part: &str) {
    let _ = part;
}

#[node(Essay)]
async fn third(#[item] part: &str) {
    let _ = part;
}

#[node(Essay)]
async fn idle() {}

flow! {
    ReadEssay(Essay) {
        node pass0 = idle; node pass1 = idle; node pass2 = idle; node pass3 = idle;
        node pass4 = idle; node pass5 = idle; node pass6 = idle; node pass7 = idle;
        node pass8 = idle; node pass9 = idle; node pass10 = idle; node pass11 = idle;
        node pass12 = idle; node pass13 = idle; node pass14 = idle; node pass15 = idle;
        node pass16 = idle; node pass17 = idle; node pass18 = idle; node pass19 = idle;
        node pass20 = idle; node pass21 = idle; node pass22 = idle; node pass23 = idle;
        node pass24 = idle; node pass25 = idle; node pass26 = idle; node pass27 = idle;
        node pass28 = idle; node pass29 = idle; node pass30 = idle; node pass31 = idle;
        node pass32 = idle; node pass33 = idle; node pass34 = idle; node pass35 = idle;
        node pass36 = idle; node pass37 = idle; node pass38 = idle; node pass39 = idle;
        node pass40 = idle; node pass41 = idle; node pass42 = idle; node pass43 = idle;
        node pass44 = idle; node pass45 = idle; node pass46 = idle; node pass47 = idle;
        node pass48 = idle; node pass49 = idle; node pass50 = idle; node pass51 = idle;
        node pass52 = idle; node pass53 = idle; node pass54 = idle; node pass55 = idle;
        node pass56 = idle; node pass57 = idle; node pass58 = idle; node pass59 = idle;
        node pass60 = idle; node pass61 = idle; node pass62 = idle; node pass63 = idle;
        node pass64 = idle; node pass65 = idle; node pass66 = idle; node pass67 = idle;
        node pass68 = idle; node pass69 = idle; node pass70 = idle; node pass71 = idle;
        node pass72 = idle; node pass73 = idle; node pass74 = idle; node pass75 = idle;
        node pass76 = idle; node pass77 = idle; node pass78 = idle; node pass79 = idle;
        node pass80 = idle; node pass81 = idle; node pass82 = idle; node pass83 = idle;
        node pass84 = idle; node pass85 = idle; node pass86 = idle; node pass87 = idle;
        node pass88 = idle; node pass89 = idle; node pass90 = idle; node pass91 = idle;
        node pass92 = idle; node pass93 = idle; node pass94 = idle; node pass95 = idle;
        node pass96 = idle; node pass97 = idle; node pass98 = idle; node pass99 = idle;
        node pass100 = idle; node pass101 = idle; node pass102 = idle; node pass103 = idle;
        node pass104 = idle; node pass105 = idle; node pass106 = idle; node pass107 = idle;
        node pass108 = idle; node pass109 = idle; node pass110 = idle; node pass111 = idle;
        node pass112 = idle; node pass113 = idle; node pass114 = idle; node pass115 = idle;
        node pass116 = idle; node pass117 = idle; node pass118 = idle; node pass119 = idle;
        node pass120 = idle; node pass121 = idle; node pass122 = idle; node pass123 = idle;
        node pass124 = idle; node pass125 = idle; node pass126 = idle;
        START -> first -> pass0 -> pass1 -> pass2 -> pass3 -> pass4 -> pass5 -> pass6
            -> pass7 -> pass8 -> pass9 -> pass10 -> pass11 -> pass12 -> pass13 -> pass14
            -> pass15 -> pass16 -> pass17 -> pass18 -> pass19 -> pass20 -> pass21 -> pass22
            -> pass23 -> pass24 -> pass25 -> pass26 -> pass27 -> pass28 -> pass29 -> pass30
            -> pass31 -> pass32 -> pass33 -> pass34 -> pass35 -> pass36 -> pass37 -> pass38
            -> pass39 -> pass40 -> pass41 -> pass42 -> pass43 -> pass44 -> pass45 -> pass46
            -> pass47 -> pass48 -> pass49 -> pass50 -> pass51 -> pass52 -> pass53 -> pass54
            -> pass55 -> pass56 -> pass57 -> pass58 -> pass59 -> pass60 -> pass61 -> pass62
            -> second -> pass63 -> pass64 -> pass65 -> pass66 -> pass67 -> pass68 -> pass69
            -> pass70 -> pass71 -> pass72 -> pass73 -> pass74 -> pass75 -> pass76 -> pass77
            -> pass78 -> pass79 -> pass80 -> pass81 -> pass82 -> pass83 -> pass84 -> pass85
            -> pass86 -> pass87 -> pass88 -> pass89 -> pass90 -> pass91 -> pass92 -> pass93
            -> pass94 -> pass95 -> pass96 -> pass97 -> pass98 -> pass99 -> pass100 -> pass101
            -> pass102 -> pass103 -> pass104 -> pass105 -> pass106 -> pass107 -> pass108 -> pass109
            -> pass110 -> pass111 -> pass112 -> pass113 -> pass114 -> pass115 -> pass116 -> pass117
            -> pass118 -> pass119 -> pass120 -> pass121 -> pass122 -> pass123 -> pass124 -> pass125
            -> pass126 -> third;
    }
}

fn main() {}
