"""Records as version 0.1.0 wrote them, before they had a `version`: byte for byte, for ever."""

# a round in the store, selling
ROUND = (
    b'{"item":"apple","number":1,"stock":10,"mode":"lock:lease","think":20,"lease":10000,'
    b'"wait":5000,"attempts":64,"limit":10,"delay":0,"started":1790000000000,"ended":null}'
)
# one that sells in the database
SQL_ROUND = (
    b'{"item":"pear","number":1,"stock":60,"mode":"sql","think":0,"lease":10000,"wait":5000,'
    b'"attempts":64,"limit":10,"delay":0,"started":1790000000000,"ended":null}'
)
# a sale in the stream, and under its id and key
ORDER = (
    b'{"id":"01990000-0000-7000-8000-000000000001","item":"apple","round":1,"quantity":2,'
    b'"price":60,"buyer":"a-buyer","key":"a-key","at":1790000000005}'
)
# a stampede that has ended
RUN = (
    b'{"id":"apple-0123456789","round":{"item":"apple","number":7,"stock":10,"mode":"naive",'
    b'"think":20,"lease":10000,"wait":5000,"attempts":64,"limit":10,"delay":0,'
    b'"started":1790000000000,"ended":1790000000009},"buyers":4,"seconds":2,'
    b'"started":1790000000000,"ended":1790000004000,"how":"finished","why":"",'
    b'"figures":{"sold":12,"overall":6.0},"audit":{"item":"apple","round":7,"mode":"naive",'
    b'"running":false,"settled":true,"verdict":"oversold",'
    b'"sentence":"Sold 12 of 10. 2 customers will be disappointed.","stocked":10,"left":0,'
    b'"sold":12,"orders":12,"oversold":2,"undersold":0,"duplicate_ids":0,"duplicate_keys":0,'
    b'"sales_without_order":0,"orders_without_sale":0,"in_flight":0,"answers":{"SOLD":12,'
    b'"SOLD_OUT":0,"BUSY":0,"ERROR":0},"conflicts":0,"locks_lost":0},"comparison":""}'
)
# a comparison that has ended
COMPARISON = (
    b'{"id":"comparison-0123456789","item":"apple","stock":10,"times":{"think":20},'
    b'"buyers":4,"seconds":2,"repeats":1,"reference":"naive","modes":["naive","watch"],'
    b'"exhibits":["naive"],"ground":{"version":"0.1.0","workers":2,"threads":16,'
    b'"store":"Valkey 9.1.0","appendfsync":"always","database":"sqlite","cores":2},'
    b'"started":1790000000000,"ended":1790000009000,"how":"finished","why":"","run":"",'
    b'"results":[{"mode":"naive","repeat":1,"run":"apple-0123456789","how":"finished",'
    b'"why":"","verdict":"oversold","goodput":6.0,"lasted":2,"p50":1.5,"p95":2.0,"p99":3.0,'
    b'"sold":12,"left":0,"oversold":2,"undersold":0,"busy":0,"errors":0,"cpu":0.3}]}'
)
# what a worker says of a round
POST = (
    b'{"in_flight":0,"quiet_since":1790000000.5,"beat":1790000001.25,"left_round":false,'
    b'"answers":{"SOLD":1},"conflicts":2,"locks_lost":0}'
)
# the phones that a worker hears
ROLL = b'[{"id":"a-buyer","name":"Ann","joined":1790000000000,"seen":1790000000009}]'
