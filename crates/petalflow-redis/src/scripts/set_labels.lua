-- Sets the labels of a thread.
local lost = claim_lost(claim, owner)
if lost then
    return lost
end
set_listed(labels, value)
