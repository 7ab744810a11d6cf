//! Works that were booked wrongly, and guards that stopped good runs or let bad ones go on.
