use petalflow::prelude::*;

#[state]
struct Order {
    #[key(append, inbox)]
    notes: Vec<String>,
    #[key(receive)]
    payment: u32,
    paid: u32,
}

#[node(Order)]
async fn wait(cx: Context) -> petalflow::Result<OrderPaid> {
    let payment = cx.receive::<OrderPayment>().await?;
    let _ = cx.receive::<OrderNotes>().await?;
    Ok(OrderPaid(payment))
}

flow!(Wait(Order) { wait });

fn main() {}
